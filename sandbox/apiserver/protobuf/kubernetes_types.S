/* Links the compiled proto/kubernetes/*.proto (a FileDescriptorSet) into the program. */
    .section .rodata
    .balign 16
    .global gangway_kubernetes_types_begin
    .global gangway_kubernetes_types_end
gangway_kubernetes_types_begin:
    .incbin "kubernetes_types.bin"
gangway_kubernetes_types_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
