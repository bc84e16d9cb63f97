package report

import (
	"reflect"

	"prony/internal/result"
)

// Tame makes all text in a stored result fit for a terminal, in place: a result
// may come from anywhere, and what steers a terminal, or begins a line that we
// did not write, has no place in it. Heads of answers keep their lines; nothing
// prints them without a look at each letter. v is a pointer.
func Tame(v any) { tame(reflect.ValueOf(v), 0) }

// deepest bounds the walk; results are not half as deep.
const deepest = 40

func tame(v reflect.Value, depth int) {
	if depth > deepest || !v.IsValid() || v.Type() == reflect.TypeFor[result.Sample]() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(clean(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			tame(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				tame(v.Field(i), depth+1)
			}
		}
	case reflect.Slice, reflect.Array:
		if kind := v.Type().Elem().Kind(); kind == reflect.Float64 || kind == reflect.Uint8 || kind == reflect.Int {
			return // no text in there
		}
		for i := range v.Len() {
			tame(v.Index(i), depth+1)
		}
	case reflect.Map:
		tameMap(v, depth)
	}
}

// tameMap writes keys and values anew: those of a map cannot be set in place.
func tameMap(v reflect.Value, depth int) {
	fresh := func(old reflect.Value) reflect.Value {
		c := reflect.New(old.Type()).Elem()
		c.Set(old)
		tame(c, depth+1)
		return c
	}
	for _, key := range v.MapKeys() {
		value := v.MapIndex(key)
		v.SetMapIndex(key, reflect.Value{})
		v.SetMapIndex(fresh(key), fresh(value))
	}
}
