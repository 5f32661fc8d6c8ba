/* Links kubernetes-schemas.json into the program, as it is. */
    .section .rodata
    .balign 16
    .global gangway_kubernetes_schemas_begin
    .global gangway_kubernetes_schemas_end
gangway_kubernetes_schemas_begin:
    .incbin "kubernetes-schemas.json"
gangway_kubernetes_schemas_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
