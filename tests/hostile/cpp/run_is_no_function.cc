// `run` is a number.
#define run declared_elsewhere
#undef run
asm(".globl run\n.data\n.type run, @object\n.size run, 8\nrun: .quad 42\n.text\n");
