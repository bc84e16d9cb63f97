package spec

import (
	"encoding/json"
	"fmt"
)

// object of JSON; the encoder sorts its keys.
type jsonObject = map[string]any

// Schema is the JSON Schema (2020-12) of the experiment file, for editors. It
// is made of the table that decoding follows. Where a variable may stand it
// takes a text with one for any value; what only shows across several keys is
// left to [Load].
func Schema() ([]byte, error) {
	s := drawer{defs: jsonObject{}}
	root := s.object(fileForm(), false)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Prony experiment"
	root["description"] = fmt.Sprintf("Experiment file of Prony, version %d.", Version)
	root["$defs"] = s.defs
	root["properties"].(jsonObject)["prony"] = jsonObject{"const": Version, "description": "Version of the file format."}
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(b, '\n'), nil
}

// drawer writes forms as schemas and keeps the named ones.
type drawer struct{ defs jsonObject }

// form draws a value; free is whether variables may stand in it.
func (s *drawer) form(f *form, free bool) jsonObject {
	var long jsonObject
	switch f.kind {
	case object:
		if s.defs[f.name] == nil {
			s.defs[f.name] = jsonObject{} // closes circles
			s.defs[f.name] = s.object(f, free)
		}
		long = jsonObject{"$ref": "#/$defs/" + f.name}
	case table:
		long = s.table(f, free)
	case list:
		long = jsonObject{"type": "array", "items": s.form(f.each, free), "minItems": 1}
		if f.single {
			return jsonObject{"anyOf": []any{s.form(f.each, free), long}}
		}
	case fields:
		pair := jsonObject{"type": "array", "items": textual(), "minItems": 2, "maxItems": 2}
		return jsonObject{"anyOf": []any{jsonObject{"type": "object", "additionalProperties": textual()}, jsonObject{"type": "array", "items": pair}}}
	default:
		return s.scalar(f, free)
	}
	if f.short != nil {
		return jsonObject{"anyOf": []any{s.form(f.short, free), long}}
	}
	return long
}

func (s *drawer) table(f *form, free bool) jsonObject {
	if f.name == "vary" {
		value := jsonObject{"type": []string{"array", "string", "number", "boolean"}, "minItems": 1}
		return jsonObject{"type": "object", "additionalProperties": value,
			"properties": jsonObject{"only": jsonObject{"type": []string{"array", "object"}}, "except": jsonObject{"type": []string{"array", "object"}}}}
	}
	return jsonObject{"type": "object", "additionalProperties": s.form(f.each, free)}
}

func (s *drawer) object(f *form, free bool) jsonObject {
	properties, need := jsonObject{}, []string{}
	for _, k := range f.keys {
		drawn := s.form(k.form, free || k.late)
		drawn["description"] = k.doc
		properties[k.name] = drawn
		if k.need {
			need = append(need, k.name)
		}
	}
	o := jsonObject{"type": "object", "properties": properties, "additionalProperties": false}
	if len(need) > 0 {
		o["required"] = need
	}
	var choice []any
	for _, name := range f.choice {
		choice = append(choice, jsonObject{"required": []string{name}})
	}
	if choice != nil {
		o["oneOf"] = choice
	}
	return o
}

// textual is any text; numbers and truths are taken as they are written.
func textual() jsonObject { return jsonObject{"type": []string{"string", "number", "boolean"}} }

func (s *drawer) scalar(f *form, free bool) jsonObject {
	drawn := basic(f)
	if free && f.kind != text {
		return jsonObject{"anyOf": []any{drawn, jsonObject{"type": "string", "pattern": `\$\{`}}}
	}
	return drawn
}

// basic draws the kinds; a pattern is looser than the reader where the exact
// one would be unreadable.
func basic(f *form) jsonObject {
	quantity := func(pattern string) jsonObject {
		return jsonObject{"anyOf": []any{jsonObject{"type": "number", "minimum": 0}, jsonObject{"type": "string", "pattern": pattern}}}
	}
	switch f.kind {
	case text:
		return textual()
	case word:
		return words(f.words)
	case whole:
		return jsonObject{"anyOf": []any{jsonObject{"type": "integer", "minimum": f.least}, jsonObject{"type": "string", "pattern": `^[0-9][0-9.,]*[kKmMgGtT]?$`}}}
	case fraction:
		return jsonObject{"type": "number", "exclusiveMinimum": 0}
	case factor:
		return jsonObject{"anyOf": []any{jsonObject{"type": "number", "exclusiveMinimum": 0}, jsonObject{"const": "auto"}}}
	case truth:
		return jsonObject{"type": "boolean"}
	case duration:
		return quantity(`^[0-9].*$`)
	case rate, perSecond:
		return quantity(`^[0-9].*$`)
	case size:
		return quantity(`^[0-9.]+ ?[kKmMgGtT]?i?B?$`)
	case cpus:
		return quantity(`^[0-9.]+m?$`)
	case percent:
		return jsonObject{"type": "string", "pattern": `^[0-9.]+ ?%$`}
	case cores:
		return quantity(`^[0-9, -]+$`)
	case address:
		return jsonObject{"type": "string", "pattern": `^https?://`}
	case machine:
		return jsonObject{"type": "string", "pattern": `^ssh://`}
	case pause:
		return quantity(`^[0-9].*$`)
	}
	return quantity(`^(auto|[0-9].*)$`) // warming
}

// words allows a few words; those that look like numbers may also be such.
func words(allowed []string) jsonObject {
	enum := []any{}
	for _, w := range allowed {
		enum = append(enum, w)
		var number json.Number
		if json.Unmarshal([]byte(w), &number) == nil {
			enum = append(enum, number)
		}
	}
	return jsonObject{"enum": enum}
}
