// Package compose is the driver for services of a user's Compose file. It works
// through the user's own program, docker compose or docker-compose, whose version
// decides what the file means, and looks at the containers through the Engine
// API.
//
// Each file becomes a project of its own in a run, so that services of one file
// see each other, by their names, and nothing sees the project that the user may
// have up. An instance is one container more of its service; what the service
// depends on is started with the first.
//
// It decides what the file cannot say for an experiment. The file as Compose
// itself resolves it is changed before it is used: the run's label on everything,
// no names that could exist once only, no restarts, the service's ports published
// on the loopback address alone, one for each instance, and those of other
// services not at all. Limits of the experiment replace those of the file.
// Nothing is pulled or built by the way: an image that is not there is an error
// with the command that brings it. With the last instance goes the project with
// its networks and the volumes that were made for it.
//
// It refuses programs that it cannot find, services that are not in the file,
// and several ports without a word on which one serves.
package compose
