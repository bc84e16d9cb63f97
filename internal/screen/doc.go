// Package screen shows a load or an experiment while it runs, in a terminal: the
// load, the hosts and services like htop, the trials that are done and the
// findings as they fire.
//
// It decides for you: where things are and how wide, so that numbers stay in
// their place; colours of the terminal's own sixteen, and none with NO_COLOR;
// plain ASCII where the locale is not UTF-8. It draws at most four times a
// second.
//
// It refuses to be waited for. What it is told is put into bounded queues, the
// newest wins, and no call blocks or fails, whatever the terminal does. It
// refuses to judge: a number here is one interval's, and the report is printed
// by the caller when the screen is closed. It refuses to let a name or a message
// act on the terminal: control characters do not get through.
package screen
