#include "roost_page.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// The program contains the files of the page, so that it needs no installed files.

static const unsigned char index_html[] = {
#embed "../../Tools/RoostViewer/Page/index.html"
};
static const unsigned char start_html[] = {
#embed "../../Tools/RoostViewer/Page/start.html"
};
static const unsigned char start_js[] = {
#embed "../../Tools/RoostViewer/Page/start.js"
};
static const unsigned char icon_svg[] = {
#embed "../../Tools/RoostViewer/Page/icon.svg"
};
static const unsigned char page_css[] = {
#embed "../../Tools/RoostViewer/Page/page.css"
};
static const unsigned char compare_js[] = {
#embed "../../Tools/RoostViewer/Page/compare.js"
};
static const unsigned char delete_js[] = {
#embed "../../Tools/RoostViewer/Page/delete.js"
};
static const unsigned char diagram_js[] = {
#embed "../../Tools/RoostViewer/Page/diagram.js"
};
static const unsigned char dialog_js[] = {
#embed "../../Tools/RoostViewer/Page/dialog.js"
};
static const unsigned char dom_js[] = {
#embed "../../Tools/RoostViewer/Page/dom.js"
};
static const unsigned char edit_js[] = {
#embed "../../Tools/RoostViewer/Page/edit.js"
};
static const unsigned char jobs_js[] = {
#embed "../../Tools/RoostViewer/Page/jobs.js"
};
static const unsigned char keys_js[] = {
#embed "../../Tools/RoostViewer/Page/keys.js"
};
static const unsigned char layout_js[] = {
#embed "../../Tools/RoostViewer/Page/layout.js"
};
static const unsigned char object_js[] = {
#embed "../../Tools/RoostViewer/Page/object.js"
};
static const unsigned char page_js[] = {
#embed "../../Tools/RoostViewer/Page/page.js"
};
static const unsigned char picker_js[] = {
#embed "../../Tools/RoostViewer/Page/picker.js"
};
static const unsigned char predicate_js[] = {
#embed "../../Tools/RoostViewer/Page/predicate.js"
};
static const unsigned char router_js[] = {
#embed "../../Tools/RoostViewer/Page/router.js"
};
static const unsigned char store_js[] = {
#embed "../../Tools/RoostViewer/Page/store.js"
};
static const unsigned char table_js[] = {
#embed "../../Tools/RoostViewer/Page/table.js"
};
static const unsigned char values_js[] = {
#embed "../../Tools/RoostViewer/Page/values.js"
};

static const struct roost_page_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {"start.html", start_html, sizeof start_html},
    {"start.js", start_js, sizeof start_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"page.css", page_css, sizeof page_css},
    {"compare.js", compare_js, sizeof compare_js},
    {"delete.js", delete_js, sizeof delete_js},
    {"diagram.js", diagram_js, sizeof diagram_js},
    {"dialog.js", dialog_js, sizeof dialog_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"edit.js", edit_js, sizeof edit_js},
    {"jobs.js", jobs_js, sizeof jobs_js},
    {"keys.js", keys_js, sizeof keys_js},
    {"layout.js", layout_js, sizeof layout_js},
    {"object.js", object_js, sizeof object_js},
    {"page.js", page_js, sizeof page_js},
    {"picker.js", picker_js, sizeof picker_js},
    {"predicate.js", predicate_js, sizeof predicate_js},
    {"router.js", router_js, sizeof router_js},
    {"store.js", store_js, sizeof store_js},
    {"table.js", table_js, sizeof table_js},
    {"values.js", values_js, sizeof values_js},
    {NULL, NULL, 0},
};

const struct roost_page_file *roost_page_files(void) { return files; }
