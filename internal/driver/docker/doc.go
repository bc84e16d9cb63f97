// Package docker is the driver for containers, through the Engine API of a
// Docker engine on this machine; the docker command is not needed.
//
// It starts containers of images (services of kind docker), and runs programs in
// containers of their own (services of kind process and catalog): such a program
// is put into an image made from scratch that holds the file itself, the shared
// libraries that the loader would take, and the files that its command and its
// configuration name by absolute paths. Its network is the host's, so that it
// finds its upstreams, and is found, as a process would be.
//
// It decides that nothing is pulled: an image that is not there is an error with
// the command that brings it. A container carries the run in its labels, its
// name and its environment. Limits are set when it is made, swap is off wherever
// memory is limited, and what is reported is what the engine says after the
// start, corrected by the control group where that can be read. Ports are
// published on the loopback address alone. A load takes the container's own
// address where this machine's kernel runs it: the engine's proxy behind a
// published port costs time and processor, and takes connections before the
// program does. Where there is no other way, that is a note in the result. Images
// that were made here stay as a cache, and go when nobody used them for long, or with Driver.Prune.
//
// It refuses engines on other machines, named volumes that do not exist, and
// programs of another system than Linux.
package docker
