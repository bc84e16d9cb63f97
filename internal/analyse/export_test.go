package analyse

// RuleNames returns the names of all rules, for the test that each has cases.
func RuleNames() []string {
	var names []string
	for _, a := range areas() {
		for _, r := range a.rules {
			names = append(names, r.name)
		}
	}
	return names
}

// ExperimentRuleNames returns the names of the rules about several trials.
func ExperimentRuleNames() []string {
	var names []string
	for _, r := range experimentRules() {
		names = append(names, r.name)
	}
	return names
}

// Limits returns all that can be named as a limit by a rule.
func Limits() []string { return precedence() }

// RuleIDs returns the id of each rule by its name.
func RuleIDs() map[string]string {
	ids := map[string]string{}
	for _, a := range areas() {
		for _, r := range a.rules {
			ids[r.name] = r.id
		}
	}
	for _, r := range experimentRules() {
		ids[r.name] = r.id
	}
	return ids
}
