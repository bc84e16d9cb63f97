package report

import (
	"fmt"
	"strings"
)

// Lang is the language of the fixed texts of a report. Messages of findings
// stay English in all of them.
type Lang string

// The languages that there are; the zero Lang is English.
const (
	English  Lang = "en"
	Chinese  Lang = "zh"
	German   Lang = "de"
	Japanese Lang = "ja"
)

// Langs lists the languages.
func Langs() []Lang { return []Lang{English, Chinese, German, Japanese} }

// ParseLang reads the name of a language; "" is English.
func ParseLang(name string) (Lang, error) {
	if name == "" {
		return English, nil
	}
	var known []string
	for _, l := range Langs() {
		if string(l) == name {
			return l, nil
		}
		known = append(known, string(l))
	}
	return English, fmt.Errorf("language %q: there are %s", name, strings.Join(known, ", "))
}

// phrase names a fixed text.
type phrase int

const (
	phValid phrase = iota
	phSuspect
	phInvalid
	phNoResult
	phWhyNotDouble
	phDropped
	phTooFew
	phMoreWouldTell
	phNoLimit
	phExonerated
	phConditions
	phProcedure
	phResults
	phFindings
	phConclusion
	phTrials
	phEnvironment
	phRepeat
	phLatency
	phExpectations
	phComparison
	phLoad
	phTarget
	phService
	phLimits
	phModel
	phClosed
	phOpen
	phClosedNote
	phPlanned
	phWindow
	phWarmup
	phNoWarmup
	phTimeout
	phUnitRun
	phUnit
	phLeftOut
	phBlocks
	phBaseline
	phAfresh
	phMargins
	phVariant
	phTrialsColumn
	phTrial
	phBlock
	phRate
	phTimesBaseline
	phErrors
	phVerdict
	phMetric
	phChange
	phInterval
	phRule
	phSeverity
	phWhat
	phMean
	phFew
	phUnstable
	phLedger
	phBooks
	phGenerator
	phGeneratorText
	phMet
	phMissed
	phNoFindings
	phNotRun
	phEnglishMessages
	phCommand
	phFile
	phMadeBy
	phNotRecorded
	phHost
	phOS
	phProcessor
	phMemory
	phVersion
	phCapacity
	phGates
	phGatesPassed
	phGatesFailed
	phGatesUnclear
	phDiffers
	phSameConditions
	phRunsCompared
	phNumber
	phNumberRange
	phAllMet
	phSomeMissed
	phBetter
	phWorse
	phEquivalent
	phSmallChange
	phCannotTell
	phTrialsCount
	phNone
	phFacts
	phScaling
	phEfficiency
	phHeap
	phCollected
	phThreads
	phStates
	phPool
	phBusiest
	phraseCount // how many there are
)

// say is a fixed text in the language.
func (l Lang) say(p phrase, args ...any) string {
	text := englishPhrases[p]
	switch l {
	case Chinese:
		text = chinesePhrases[p]
	case German:
		text = germanPhrases[p]
	case Japanese:
		text = japanesePhrases[p]
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

var englishPhrases = [phraseCount]string{
	phValid:           "nothing speaks against this number",
	phSuspect:         "usable with care, for the reasons under Findings",
	phInvalid:         "do not use this number; the reasons are under Findings",
	phNoResult:        "no result",
	phWhyNotDouble:    "What limits it (why not double?)",
	phDropped:         "Left out of this number: %[1]s.",
	phTooFew:          "too few trials: it takes %[1]d of each variant, and there are %[2]d",
	phMoreWouldTell:   "about %[1]d trials of each variant would tell, and there are %[2]d",
	phNoLimit:         "What limited the rate was not identified.",
	phExonerated:      "Looked at, and not the limit: %[1]s.",
	phConditions:      "Conditions",
	phProcedure:       "Procedure",
	phResults:         "Results",
	phFindings:        "Findings",
	phConclusion:      "Conclusion",
	phTrials:          "Every trial",
	phEnvironment:     "Environment",
	phRepeat:          "How to repeat it",
	phLatency:         "Latency",
	phExpectations:    "Expectations",
	phComparison:      "Comparison with %[1]s",
	phLoad:            "Load",
	phTarget:          "Requests",
	phService:         "Service",
	phLimits:          "limits",
	phModel:           "Model",
	phClosed:          "closed: each of %[1]s connections sends its next request when the last one is answered",
	phOpen:            "open: requests leave by a timetable that does not wait for answers, on at most %[1]s connections",
	phClosedNote:      "Response times of a closed model are not what independent users would see.",
	phPlanned:         "%[1]s requests/s planned",
	phWindow:          "%[1]s measured",
	phWarmup:          "after a warm-up of %[1]s, which does not count",
	phNoWarmup:        "without a warm-up",
	phTimeout:         "timeout %[1]s",
	phUnitRun:         "One run. How much the number varies from run to run is not known; repeat it before comparing.",
	phUnit:            "The trial is the unit: medians over trials with an interval of at least 95 % coverage; in parentheses, where there are too few trials for one, the range.",
	phLeftOut:         "Trials that are invalid or have no result are listed, and count in no figure.",
	phBlocks:          "%[1]d variants, %[2]d blocks, each of which holds every variant once; order: %[3]s, seed %[4]d.",
	phBaseline:        "Baseline: %[1]s.",
	phAfresh:          "Each trial starts its services afresh.",
	phMargins:         "A difference within the margin of a metric does not matter; all gates share a %[1]s chance of a false alarm.",
	phVariant:         "variant",
	phTrialsColumn:    "trials",
	phTrial:           "trial",
	phBlock:           "block",
	phRate:            "requests/s",
	phTimesBaseline:   "× baseline",
	phErrors:          "errors",
	phVerdict:         "verdict",
	phMetric:          "metric",
	phChange:          "change",
	phInterval:        "interval",
	phRule:            "rule",
	phSeverity:        "severity",
	phWhat:            "what was found",
	phMean:            "mean",
	phFew:             "~ fewer than 10 samples beyond this percentile; – none.",
	phUnstable:        "Unstable at this rate: the queue grew, so that no percentile would mean anything.",
	phLedger:          "Ledger",
	phBooks:           "%[1]s asked = %[2]s completed + %[3]s failed + %[4]s cut off at the end + %[5]s never sent",
	phGenerator:       "Generator",
	phGeneratorText:   "%[1]s of %[2]s cores busy on average, %[3]s at most; %[4]s CPU per request",
	phMet:             "met",
	phMissed:          "NOT met",
	phNoFindings:      "No rule found anything.",
	phNotRun:          "Not judged, since an input was missing: %[1]s.",
	phEnglishMessages: "Messages of findings are in English.",
	phCommand:         "Command",
	phFile:            "Experiment file",
	phMadeBy:          "Measured with Prony %[1]s.",
	phNotRecorded:     "Not recorded in this result: %[1]s.",
	phHost:            "host",
	phOS:              "system",
	phProcessor:       "processor",
	phMemory:          "memory",
	phVersion:         "version",
	phCapacity:        "Capacity",
	phGates:           "Gates",
	phGatesPassed:     "all gates passed",
	phGatesFailed:     "%[1]d of %[2]d gates failed",
	phGatesUnclear:    "no gate failed; %[1]d of %[2]d cannot tell",
	phDiffers:         "What differs",
	phSameConditions:  "Nothing that was recorded differs between the two sides.",
	phRunsCompared:    "%[1]d runs of %[2]s against %[3]d runs of %[4]s.",
	phNumber:          "%[1]s requests/s",
	phNumberRange:     "%[1]s requests/s, %[2]s",
	phAllMet:          "All %[1]d expectations were met.",
	phSomeMissed:      "%[1]d of %[2]d expectations were NOT met.",
	phBetter:          "better",
	phWorse:           "worse",
	phEquivalent:      "equivalent",
	phSmallChange:     "small change",
	phCannotTell:      "cannot tell",
	phTrialsCount:     "%[1]d trials: %[2]d valid, %[3]d suspect, %[4]d invalid, %[5]d without a result.",
	phNone:            "none",
	phFacts:           "%[1]d further facts that can change a number",
	phScaling:         "Scaling with %[1]s",
	phEfficiency:      "per unit, relative to the first",
	phHeap:            "heap at most %[1]s of %[2]s",
	phCollected:       "garbage collection %[1]s of the time, at most %[2]s within %[3]s",
	phThreads:         "at most %[1]s threads",
	phStates:          "on average %[1]s runnable, %[2]s blocked, %[3]s waiting, %[4]s waiting for a limited time",
	phPool:            "pool %[1]s: %[2]s of %[3]s threads busy on average, %[4]s at most",
	phBusiest:         "busiest thread %[1]s with %[2]s of a core",
}

// Phrases lists the fixed texts of a language, in the same order for each.
func Phrases(l Lang) []string {
	all := make([]string, phraseCount)
	for p := range phraseCount {
		all[p] = l.say(p)
	}
	return all
}
