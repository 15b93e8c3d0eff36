#include <histedit.h>
#include <stdio.h>

/* Swift cannot call functions with variable arguments. Each option that Roost uses has a function here. */

/* Creates an editor that writes to standard output, or to standard error if `uses_errors` is not 0. */
static inline EditLine *cedit_make(const char *name, int uses_errors) {
    return el_init(name, stdin, uses_errors ? stderr : stdout, stderr);
}

static inline int cedit_set_prompt(EditLine *editor, char *(*prompt)(EditLine *)) {
    return el_set(editor, EL_PROMPT, prompt);
}

static inline int cedit_set_history(EditLine *editor, History *list) { return el_set(editor, EL_HIST, history, list); }

static inline int cedit_set_mode(EditLine *editor, const char *mode) { return el_set(editor, EL_EDITOR, mode); }

static inline int cedit_set_signals(EditLine *editor, int handled) { return el_set(editor, EL_SIGNAL, handled); }

static inline int cedit_set_reader(EditLine *editor, int (*read)(EditLine *, wchar_t *)) {
    return el_set(editor, EL_GETCFN, read);
}

static inline int cedit_add_function(
    EditLine *editor, const char *name, const char *help, unsigned char (*function)(EditLine *, int)) {
    return el_set(editor, EL_ADDFN, name, help, function);
}

static inline int cedit_bind(EditLine *editor, const char *key, const char *function) {
    return el_set(editor, EL_BIND, key, function, (const char *)NULL);
}

static inline int cedit_set_data(EditLine *editor, void *data) { return el_set(editor, EL_CLIENTDATA, data); }

static inline void *cedit_data(EditLine *editor) {
    void *data = NULL;
    return el_get(editor, EL_CLIENTDATA, &data) == 0 ? data : NULL;
}

static inline int cedit_set_history_size(History *list, int size) {
    HistEvent event;
    return history(list, &event, H_SETSIZE, size);
}

static inline int cedit_set_history_unique(History *list, int unique) {
    HistEvent event;
    return history(list, &event, H_SETUNIQUE, unique);
}

static inline int cedit_enter(History *list, const char *line) {
    HistEvent event;
    return history(list, &event, H_ENTER, line);
}

static inline int cedit_refresh(EditLine *editor) { return el_set(editor, EL_REFRESH); }

/* Makes the terminal deliver single keys without echo. el_gets restores the terminal. */
static inline int cedit_prepare(EditLine *editor) { return el_set(editor, EL_PREP_TERM, 1); }
