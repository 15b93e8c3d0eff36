#include "CRoostSystem.h"

#include <sys/ioctl.h>
#include <termios.h>

int croost_terminal_width(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
