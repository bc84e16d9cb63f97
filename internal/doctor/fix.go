package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Change is a setting that was changed, with its old value.
type Change struct {
	Setting
	Old string `json:"old"`
}

// Fix sets what checks found wrong and what is safe to set while the machine
// runs. The old values are written to the named file before anything is changed;
// those of an earlier Fix that was not undone stay the old ones. It returns what
// was changed, also with an error.
func Fix(c Config, all []Check, name string) ([]Change, error) {
	c = c.withDefaults()
	olds, err := readChanges(name)
	if err != nil {
		return nil, err
	}
	var planned []Change
	for _, k := range all {
		if k.Setting == nil || k.State == Good {
			continue
		}
		old, ok := c.text(file(k.Setting.Key))
		if !ok {
			return nil, fmt.Errorf("fix %s: %s cannot be read", k.Name, k.Setting.Key)
		}
		change := Change{*k.Setting, old}
		planned = append(planned, change)
		if !slices.ContainsFunc(olds, func(o Change) bool { return o.Key == change.Key }) {
			olds = append(olds, change)
		}
	}
	if len(planned) == 0 {
		return nil, nil
	}
	if err := writeChanges(name, olds); err != nil {
		return nil, err
	}
	for i, change := range planned {
		if err := c.set(change.Key, change.Value); err != nil {
			return planned[:i], err
		}
	}
	return planned, nil
}

// Undo puts the old values back and forgets them.
func Undo(c Config, name string) ([]Change, error) {
	c = c.withDefaults()
	all, err := readChanges(name)
	if err != nil {
		return nil, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if err := c.set(all[i].Key, all[i].Old); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return all, fmt.Errorf("forget the old settings: %w", err)
	}
	return all, nil
}

func readChanges(name string) (all []Change, err error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the old settings: %w", err)
	}
	return all, nil
}

func writeChanges(name string, all []Change) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the old settings: %w", err)
	}
	return nil
}

// set writes a setting.
func (c Config) set(key, value string) error {
	if err := os.WriteFile(filepath.Join(c.Root, file(key)), []byte(value), 0o644); err != nil {
		return fmt.Errorf("set %s to %q: %w", key, value, err)
	}
	return nil
}
