package host

import (
	"os"
	"os/exec"
)

// gate holds a process back until its group is under guard. If we die before
// it opens, the process sees the end of the gate's pipe, and ends: so there is
// no moment in which our death leaves somebody behind.
type gate struct{ in, out *os.File }

// gated is what waits at the gate and then becomes the program.
const gated = `read -r go <&3 || exit 125; exec 3<&-; exec "$@"`

// before puts the gate before a command that has not started.
func (g *gate) before(cmd *exec.Cmd) error {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	if g.in, g.out, err = os.Pipe(); err != nil {
		return err
	}
	cmd.Args = append([]string{"sh", "-c", gated, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.ExtraFiles = shell, []*os.File{g.in} // it becomes descriptor 3
	return nil
}

// open lets the process through.
func (g *gate) open() {
	if g.out != nil {
		_, _ = g.out.WriteString("\n") // it may have been killed
	}
	g.close()
}

func (g *gate) close() {
	for _, f := range []*os.File{g.in, g.out} {
		if f != nil {
			_ = f.Close()
		}
	}
}
