/* Links bootstrap-roles.jsonl into the program, as it is. */
    .section .rodata
    .balign 16
    .global gangway_bootstrap_roles_begin
    .global gangway_bootstrap_roles_end
gangway_bootstrap_roles_begin:
    .incbin "bootstrap-roles.jsonl"
gangway_bootstrap_roles_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
