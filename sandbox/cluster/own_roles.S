/* Links deploy/volcano/gangway.yaml into the program, as it is. */
    .section .rodata
    .balign 16
    .global gangway_own_manifest_begin
    .global gangway_own_manifest_end
gangway_own_manifest_begin:
    .incbin "gangway.yaml"
gangway_own_manifest_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
