// std::cerr in both of its ways, and C's stderr between its prints.
#include <cstdio>
#include <iostream>

int main(int, char **argv) {
    if (argv[1][0] == 'a') std::ios::sync_with_stdio(false);
    for (int n = 0; n < 3; n++) {
        std::cerr << "cerr " << n << std::endl;
        std::clog << "clog " << n << std::endl;
    }
    std::wcerr.flush();
    fprintf(stderr, "fprintf\n");
    std::cerr << "cerr again\n";
}
