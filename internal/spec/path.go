package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A field path names a value of the file as axes and --set do: app.catalog is
// services.app.catalog, load.connections is itself, and load[1].rate (or
// load.1.rate) is in the second of several loads.

// steps cuts a path into its keys and gives it its root: what does not begin
// with a key of the file begins with the name of a service.
func steps(path string) []string {
	path = strings.NewReplacer("[", ".", "]", "").Replace(path)
	keys := strings.Split(path, ".")
	if _, ok := fileForm().field(keys[0]); !ok {
		keys = append([]string{"services"}, keys...)
	}
	return keys
}

// set returns a copy of the tree with a value at a path. The mappings on the
// way are made where they are missing. The error says which step cannot be
// taken; the value itself is judged when the tree is decoded.
func set(root *node, path string, at place, value *node) (*node, error) {
	keys := steps(path)
	if slices.Contains(keys, "") {
		return nil, fmt.Errorf("%s is no path of the file", shorten(path))
	}
	if keys[0] == "services" && len(keys) > 1 && root.get("services").get(keys[1]) == nil {
		return nil, unknownService(keys[1], root.get("services"))
	}
	return put(root, keys, "", at, value)
}

// unknownService is the error of a path to a service that is not there.
func unknownService(name string, services *node) error {
	var names []string
	if services != nil {
		for _, k := range services.keys {
			names = append(names, k.text)
		}
	}
	hint := ""
	if near, ok := Nearest(name, append(names, fileForm().names()...)); ok {
		hint = ", did you mean " + near + "?"
	}
	return fmt.Errorf("no service is called %s%s (services: %s)", name, hint, strings.Join(names, ", "))
}

func put(n *node, keys []string, path string, at place, value *node) (*node, error) {
	if len(keys) == 0 {
		return value, nil
	}
	key := keys[0]
	switch {
	case n == nil || n.shape == nothing:
		n = &node{at: at, shape: mapping}
	case n.shape == sequence:
		return putItem(n, keys, path, at, value)
	case n.shape == scalar:
		return nil, fmt.Errorf("%s is %s and has no %s", path, shorten(n.text), key)
	}
	if i, err := strconv.Atoi(key); err == nil && path == "load" {
		if i != 0 {
			return nil, fmt.Errorf("there is one load, so only load[0]")
		}
		return put(n, keys[1:], path, at, value)
	}
	inner, err := put(n.get(key), keys[1:], join(path, key), at, value)
	if err != nil {
		return nil, err
	}
	n = n.with(key, at, inner)
	if strings.HasPrefix(path, "services.") && strings.Count(path, ".") == 1 && slices.Contains(kinds(), key) {
		// What a service is replaces what it was.
		n = n.without(slices.DeleteFunc(kinds(), func(k string) bool { return k == key }))
	}
	return n, nil
}

// putItem takes a step into a list.
func putItem(n *node, keys []string, path string, at place, value *node) (*node, error) {
	i, err := strconv.Atoi(keys[0])
	if err != nil || i < 0 || i >= len(n.items) {
		return nil, fmt.Errorf("%s is a list: name one of its items, %s[0] to %[1]s[%[3]d]", path, path, len(n.items)-1)
	}
	inner, err := put(n.items[i], keys[1:], index(path, i), at, value)
	if err != nil {
		return nil, err
	}
	c := *n
	c.items = slices.Clone(n.items)
	c.items[i] = inner
	return &c, nil
}
