/* SPDX-License-Identifier: MIT
 *
 * The environment as a struct: one field a row of config.def. Read once per init; constant until the next.
 */
#ifndef RS_BASE_CONFIG_H
#define RS_BASE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/config.def"

enum rs_config_kind { RS_SIZE, RS_COUNT, RS_TIME, RS_FLAG, RS_TEXT };

#define RS_CONFIG_TYPE_RS_SIZE uint64_t
#define RS_CONFIG_TYPE_RS_COUNT uint64_t
#define RS_CONFIG_TYPE_RS_TIME uint64_t
#define RS_CONFIG_TYPE_RS_FLAG uint64_t
#define RS_CONFIG_TYPE_RS_TEXT const char * /* borrowed from the environment, or static */
#define RS_FIELD_(field, variable, kind, dflt, unit, text) RS_CONFIG_TYPE_##kind field;
struct rs_config {
    RS_CONFIG(RS_FIELD_)
};
#undef RS_FIELD_

/* Read every variable. CONFIG names variable, value and form. Unknown ROCSHMEM_ names are a WARN with the
 * nearest name. */
int rs_config_read(struct rs_config *config);
/* What the environment says about a row: its variable, else one of OpenSHMEM's names for it; NULL when none is
 * set, or all are empty. name_out, if not NULL, receives the name that was. */
const char *rs_config_getenv(const char *variable, const char **name_out);
/* Is a variable set that turns something on by being there: any text but 0, no, off, false and "". */
int rs_config_is_on(const char *text);
/* The parsers, for tests. */
int rs_config_parse(enum rs_config_kind kind, const char *variable, const char *text, uint64_t *out);

/* One row, for printing. value_out gets what rs_config_read made of it (as text), origin_out "default" or
 * "environment". */
struct rs_config_row {
    const char *variable, *unit, *text;
    enum rs_config_kind kind;
    char dflt[64];
};
int rs_config_rows(void);
void rs_config_row(int index, struct rs_config_row *row_out);
/* Upstream's variables that mean nothing here: name and what becomes of them; NULL past the end. */
const char *rs_config_alias(int index, const char **variable_out); /* OpenSHMEM's name of a row, likewise */
const char *rs_config_foreign(int index, const char **text_out);

#endif
