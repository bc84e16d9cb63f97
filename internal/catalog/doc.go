// Package catalog reads catalog entries: ready-made targets and gateways, each
// a folder with a target.yaml and its files. It turns an entry, its parameters
// and a place to run into files and a command, builds what has to be built, and
// can try an entry out.
//
// Entries are data. Nothing here knows one by name; what a program needs,
// how it is started, which answers it owes and how its counters are read is in
// its folder. The folder catalog of the source tree holds those that come with
// the binary, and a README.md that describes the format for authors; users add
// folders of their own, which win over embedded ones of the same name.
//
// What it decides for you: target.yaml is read strictly, with every mistake at
// once and its file:line:column; a command is cut into words before values are
// put in, so that no value needs quoting and no shell is involved; an entry
// runs as the user who started it; a build is kept and found again by what went
// into it.
//
// What it refuses: anchors and aliases in target.yaml; parameters that the
// entry does not declare; values with line breaks; to install anything (it says
// which command would).
//
// # Templates
//
// Commands, the values of env and set, and files that end in .tmpl (the suffix
// goes away) are templates, with five notations and no more:
//
//	${name}                    the value of a parameter, need or variable
//	${name...}                 in a command: the value as words, zero or more
//	${upstreams: TEXT}         TEXT once for each upstream, with ${address} and ${index} (from 1)
//	${if name=value: TEXT}     TEXT if the value is that one; != for any other
//	$${                        the two characters ${
//
// A block that stands alone on a line makes whole lines: one for each upstream,
// or none. Braces inside TEXT must balance.
//
// The variables are
//
//	${host} ${port}    where to listen
//	${work}            folder for what the program writes; it starts there
//	${entry}           folder with the entry's files, templates filled in
//	${output}          what the build made
//	${prony}           this program
//	${user} ${group}   who runs it
//
// and in a build ${output} alone, as it is written in target.yaml, since a build
// must not depend on where its result will run.
package catalog
