/* Links the page's files into the program, as they are. */
    .section .rodata
    .global gangway_dashboard_css_begin
    .global gangway_dashboard_css_end
    .global gangway_dashboard_js_begin
    .global gangway_dashboard_js_end
    .global gangway_dashboard_icon_begin
    .global gangway_dashboard_icon_end
gangway_dashboard_css_begin:
    .incbin "dashboard.css"
gangway_dashboard_css_end:
    .byte 0
gangway_dashboard_js_begin:
    .incbin "dashboard.js"
gangway_dashboard_js_end:
    .byte 0
gangway_dashboard_icon_begin:
    .incbin "icon.svg"
gangway_dashboard_icon_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
