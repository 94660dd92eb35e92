// Needs Torch's libraries and nothing of its headers: what RuntimeBinds() must find for a reference runner.
int main() { return 0; }
