/* An FMU by the standard FMI 2.0, for model exchange and for co-simulation.

   Above stand, written for one model: the functions SLOPES, SWITCHES, OUTPUTS, DERIVATIVES, PROJECTED and STRAIN of time,
   state, inputs and parameters; their sizes NX, NW, NP, NS, NY; texts, numbers to start with, and the coefficients of
   Dormand and Prince's method. A mode s = +1 or -1 is the sign of a switching function, held until an event. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* The types of FMI 2.0, default platform. */
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef void *fmi2Component, *fmi2Environment, *fmi2State;
typedef unsigned int fmi2Reference;
typedef const char *fmi2String;
typedef struct {
    void (*logger)(fmi2Environment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(fmi2Environment, fmi2Status);
    fmi2Environment environment;
} fmi2Callbacks;
typedef struct {
    int more, terminate, nominals, states, next_known;
    double next;
} fmi2EventInfo;

#define BEHIND 1e-13 /* how far behind the zero of its switching function a mode asks to be changed */

/* References of variables: states from 0 on, then their rates, inputs, parameters, further outputs. */
enum { RATES = NX, INPUTS = RATES + NX, PARAMETERS = INPUTS + NW, FURTHER = PARAMETERS + NP, END = FURTHER + NY };

typedef struct {
    double t, x[NX + 1], w[NW + 1], p[NP + 1], s[NS + 1], h, side;
} Data;

typedef struct {
    Data now;
    double tolerance, since; /* when the modes began to change in one moment */
    int begun, flips; /* and how often they did */
    char *name;
    const fmi2Callbacks *callbacks;
} Instance;

static const Data start = {START_T, START_X, START_W, START_P, {0}, 0, 0};

static fmi2Status fail(Instance *m, const char *words) {
    if (m->callbacks->logger != NULL)
        m->callbacks->logger(m->callbacks->environment, m->name, fmi2Error, "error", "t = %.10g: %s", m->now.t, words);
    return fmi2Error;
}

/* The functions of the model. */

static void slopes(const Data *d, double t, const double *x, double *xdot) {
    const double *arg[] = {&t, x, d->w, d->p, d->s};
    double *res[] = {xdot};
    SLOPES(arg, res, 0, 0, 0);
}

static void outputs(const Data *d, double *y) {
    const double *arg[] = {&d->t, d->x, d->w, d->p, d->s};
    double *res[] = {y};
    OUTPUTS(arg, res, 0, 0, 0);
}

static void switches(const Data *d, double t, const double *x, double *g) {
    const double *arg[] = {&t, x, d->w, d->p, d->s};
    double *res[] = {g};
    SWITCHES(arg, res, 0, 0, 0);
}

/* Whether every number is one, and the speeds still describe the motion: they are not amplified beyond measure into
   rates, and have not become dependent on the way. */
static fmi2Status sound(Instance *m) {
    Data *d = &m->now;
    double growth, side;
    const double *arg[] = {&d->t, d->x, d->w, d->p};
    double *res[] = {&growth, &side};
    for (int i = 0; i < NX; i++)
        if (!isfinite(d->x[i])) return fail(m, "the state is not finite.");
    STRAIN(arg, res, 0, 0, 0);
    if (d->side == 0) d->side = side;
    return growth < GROWTH_LIMIT && side * d->side > 0 ? fmi2OK : fail(m, STRAINED);
}

/* Onto the constraints by Newton's method; returns how far the last step went. */
static double keep(Data *d, int most) {
    double far = 0, x[NX + 1];
    for (int k = 0; k < most; k++) {
        const double *arg[] = {&d->t, d->x, d->w, d->p};
        double *res[] = {x};
        PROJECTED(arg, res, 0, 0, 0);
        far = 0;
        for (int i = 0; i < NX; i++) {
            double moved = fabs(x[i] - d->x[i]) / (1 + fabs(x[i]));
            far = moved <= far ? far : moved; /* also where it is no number */
            d->x[i] = x[i];
        }
        if (far < 1e-14) break;
    }
    return far;
}

/* Whether a mode has the wrong sign at a state. */
static int switched(const Data *d, double t, const double *x) {
    double g[NS + 1];
    switches(d, t, x, g);
    for (int i = 0; i < NS; i++)
        if (g[i] * d->s[i] < 0) return 1;
    return 0;
}

/* Modes by the signs of their switching functions, which other modes may enter. */
static void choose_modes(Data *d) {
    double g[NS + 1];
    for (int k = 0; k <= NS && switched(d, d->t, d->x); k++) {
        switches(d, d->t, d->x, g);
        for (int i = 0; i < NS; i++)
            if (g[i] * d->s[i] < 0) d->s[i] = -d->s[i];
    }
}

/* Whether modes change over and over in one moment. */
static int stuck(Instance *m) {
    double t = m->now.t;
    if (fabs(t - m->since) > 1e-9 * (1 + fabs(t))) m->flips = 0, m->since = t;
    return ++m->flips > 100;
}

/* Dormand and Prince's method of order 8(5,3). */

/* One step; returns its error in units of the tolerance. */
static double step(const Data *d, double h, double tolerance, double *next) {
    static const double a[STAGES][STAGES] = TABLE_A, b[STAGES] = TABLE_B, c[STAGES] = TABLE_C;
    static const double e5[STAGES] = TABLE_E5, e3[STAGES] = TABLE_E3;
    double k[STAGES][NX + 1], fifth = 0, third = 0;
    for (int i = 0; i < STAGES; i++) {
        for (int n = 0; n < NX; n++) {
            double sum = 0;
            for (int j = 0; j < i; j++) sum += a[i][j] * k[j][n];
            next[n] = d->x[n] + h * sum;
        }
        slopes(d, d->t + c[i] * h, next, k[i]);
    }
    for (int n = 0; n < NX; n++) {
        double sum = 0, sum5 = 0, sum3 = 0;
        for (int j = 0; j < STAGES; j++) {
            sum += b[j] * k[j][n];
            sum5 += e5[j] * k[j][n];
            sum3 += e3[j] * k[j][n];
        }
        next[n] = d->x[n] + h * sum;
        double scale = tolerance * (1 + fmax(fabs(d->x[n]), fabs(next[n])));
        fifth += sum5 * sum5 / (scale * scale);
        third += sum3 * sum3 / (scale * scale);
    }
    return fifth == 0 ? 0 : fabs(h) * fifth / sqrt((fifth + 0.01 * third) * NX);
}

/* From a step to just behind the first switch in it: the shortest one at whose end a mode has the wrong sign. */
static double shorten(const Data *d, double h, double tolerance, double *next) {
    double before = 0, behind = h;
    while (1) {
        double middle = 0.5 * (before + behind);
        if (middle <= before || middle >= behind || behind - before < 1e-15 * (fabs(d->t) + h)) break;
        step(d, middle, tolerance, next);
        if (switched(d, d->t + middle, next)) behind = middle;
        else before = middle;
    }
    step(d, behind, tolerance, next);
    return behind;
}

static fmi2Status advance(Instance *m, double until) {
    Data *d = &m->now;
    double next[NX + 1];
    if (!(d->h > 0)) d->h = fmin(until - d->t, 1e-3);
    choose_modes(d); /* inputs may have jumped */
    while (d->t < until) {
        double left = until - d->t, h = d->h < left ? d->h : left;
        double error = step(d, h, m->tolerance, next), factor = 0.9 * pow(error, -0.125);
        if (!(error <= 1)) {
            d->h = h * (factor > 0.2 ? factor : 0.2); /* also where it is no number */
            if (d->h < 1e-15 * (1 + fabs(d->t))) return fail(m, "the step has become too small.");
            continue;
        }
        if (h == d->h || factor < 1) d->h = h * (factor < 3 ? factor : 3);
        if (NS && switched(d, d->t + h, next)) {
            h = shorten(d, h, m->tolerance, next);
            if (stuck(m)) return fail(m, STUCK);
        }
        d->t = h == left ? until : d->t + h;
        memcpy(d->x, next, NX * sizeof(double));
        keep(d, 1);
        choose_modes(d);
        if (sound(m) != fmi2OK) return fmi2Error;
    }
    return fmi2OK;
}

/* Both kinds. */

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, int on, size_t n, const fmi2String names[]) { return fmi2OK; }

EXPORT fmi2Status fmi2Reset(fmi2Component c) {
    Instance *m = c;
    m->now = start;
    for (int i = 0; i < NS; i++) m->now.s[i] = 1;
    m->tolerance = TOLERANCE;
    m->begun = m->flips = 0;
    return fmi2OK;
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, int kind, fmi2String guid, fmi2String place,
                                     const fmi2Callbacks *callbacks, int visible, int logging) {
    Instance *m = calloc(1, sizeof(Instance));
    if (m == NULL || callbacks == NULL) return free(m), NULL;
    m->callbacks = callbacks;
    m->name = calloc(strlen(name == NULL ? "" : name) + 1, 1);
    if (m->name == NULL) return free(m), NULL;
    strcpy(m->name, name == NULL ? "" : name);
    fmi2Reset(m);
    if (guid != NULL && strcmp(guid, GUID) == 0) return m;
    fail(m, "modelDescription.xml belongs to another library than this one.");
    free(m->name);
    free(m);
    return NULL;
}

EXPORT void fmi2FreeInstance(fmi2Component c) {
    if (c != NULL) free(((Instance *)c)->name);
    free(c);
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, int given, double tolerance, double from, int ends, double to) {
    Instance *m = c;
    if (given && tolerance > 0) m->tolerance = fmax(tolerance, 1e-14);
    m->now.t = from;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    Instance *m = c;
    if (!(keep(&m->now, 50) < 1e-9)) return fail(m, INCONSISTENT);
    choose_modes(&m->now);
    m->begun = 1;
    return sound(m);
}

EXPORT fmi2Status fmi2Terminate(fmi2Component c) { return fmi2OK; }

EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2Reference which[], size_t n, double values[]) {
    Instance *m = c;
    const Data *d = &m->now;
    double xdot[NX + 1], y[NY + 1];
    int have_xdot = 0, have_y = 0;
    for (size_t i = 0; i < n; i++) {
        fmi2Reference k = which[i];
        if (k >= RATES && k < INPUTS && !have_xdot) slopes(d, d->t, d->x, xdot), have_xdot = 1;
        if (k >= FURTHER && k < END && !have_y) outputs(d, y), have_y = 1;
        if (k < RATES) values[i] = d->x[k];
        else if (k < INPUTS) values[i] = xdot[k - RATES];
        else if (k < PARAMETERS) values[i] = d->w[k - INPUTS];
        else if (k < FURTHER) values[i] = d->p[k - PARAMETERS];
        else if (k < END) values[i] = y[k - FURTHER];
        else return fail(m, "a variable was asked for that there is not.");
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2Reference which[], size_t n, const double values[]) {
    Instance *m = c;
    Data *d = &m->now;
    for (size_t i = 0; i < n; i++) {
        fmi2Reference k = which[i];
        if (k < RATES && !m->begun) d->x[k] = values[i];
        else if (k >= INPUTS && k < PARAMETERS) d->w[k - INPUTS] = values[i];
        else if (k >= PARAMETERS && k < FURTHER && (TUNABLE || !m->begun)) d->p[k - PARAMETERS] = values[i];
        else return fail(m, "a variable was set that cannot be set, or not any more.");
    }
    return fmi2OK;
}

#define NO_OTHERS(kind, type)                                                                                       \
    EXPORT fmi2Status fmi2Get##kind(fmi2Component c, const fmi2Reference which[], size_t n, type values[]) {          \
        return n == 0 ? fmi2OK : fail(c, "all variables are real.");                                                  \
    }                                                                                                                 \
    EXPORT fmi2Status fmi2Set##kind(fmi2Component c, const fmi2Reference which[], size_t n, const type values[]) {    \
        return n == 0 ? fmi2OK : fail(c, "all variables are real.");                                                  \
    }
NO_OTHERS(Integer, int)
NO_OTHERS(Boolean, int)
NO_OTHERS(String, fmi2String)

EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2State *saved) {
    if (*saved == NULL) *saved = malloc(sizeof(Data));
    if (*saved == NULL) return fail(c, "no memory is left.");
    memcpy(*saved, &((Instance *)c)->now, sizeof(Data));
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2State saved) {
    memcpy(&((Instance *)c)->now, saved, sizeof(Data));
    return fmi2OK;
}

EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2State *saved) {
    free(*saved);
    *saved = NULL;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2State saved, size_t *size) {
    *size = sizeof(Data);
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2State saved, char bytes[], size_t size) {
    if (size < sizeof(Data)) return fail(c, "there is too little room for a saved state.");
    memcpy(bytes, saved, sizeof(Data));
    return fmi2OK;
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const char bytes[], size_t size, fmi2State *saved) {
    if (size != sizeof(Data)) return fail(c, "these bytes are no saved state of this model.");
    if (*saved == NULL) *saved = malloc(sizeof(Data));
    if (*saved == NULL) return fail(c, "no memory is left.");
    memcpy(*saved, bytes, sizeof(Data));
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2Reference unknown[], size_t unknowns,
                                               const fmi2Reference known[], size_t knowns, const double along[],
                                               double result[]) {
    Instance *m = c;
    const Data *d = &m->now;
    double dx[NX + 1] = {0}, dw[NW + 1] = {0}, dp[NP + 1] = {0}, dxdot[NX + 1], dy[NY + 1];
    for (size_t i = 0; i < knowns; i++) {
        fmi2Reference k = known[i];
        if (k < RATES) dx[k] = along[i];
        else if (k >= INPUTS && k < PARAMETERS) dw[k - INPUTS] = along[i];
        else if (k >= PARAMETERS && k < FURTHER) dp[k - PARAMETERS] = along[i];
        else return fail(m, "derivatives are known by states, inputs and parameters only.");
    }
    const double *arg[] = {&d->t, d->x, d->w, d->p, d->s, dx, dw, dp};
    double *res[] = {dxdot, dy};
    DERIVATIVES(arg, res, 0, 0, 0);
    for (size_t i = 0; i < unknowns; i++) {
        fmi2Reference k = unknown[i];
        if (k < RATES) result[i] = dx[k];
        else if (k < INPUTS) result[i] = dxdot[k - RATES];
        else if (k >= FURTHER && k < END) result[i] = dy[k - FURTHER];
        else return fail(m, "derivatives are known of rates and outputs only.");
    }
    return fmi2OK;
}

/* Model exchange. */

EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) { return fmi2OK; }
EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { return fmi2OK; }

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    Instance *m = c;
    memset(info, 0, sizeof(*info));
    if (switched(&m->now, m->now.t, m->now.x) && stuck(m)) return fail(m, STUCK);
    choose_modes(&m->now);
    return fmi2OK;
}

EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, int unprompted, int *enter_event, int *terminate) {
    *enter_event = *terminate = 0;
    return sound(c);
}

EXPORT fmi2Status fmi2SetTime(fmi2Component c, double t) {
    ((Instance *)c)->now.t = t;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const double x[], size_t n) {
    if (n != NX) return fail(c, "another number of states was given.");
    memcpy(((Instance *)c)->now.x, x, NX * sizeof(double));
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, double x[], size_t n) {
    if (n != NX) return fail(c, "another number of states was asked for.");
    memcpy(x, ((Instance *)c)->now.x, NX * sizeof(double));
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, double xdot[], size_t n) {
    const Data *d = &((Instance *)c)->now;
    if (n != NX) return fail(c, "another number of rates was asked for.");
    slopes(d, d->t, d->x, xdot);
    return fmi2OK;
}

/* Their zeros lie behind those of the switching functions: a solver that stops at an exact zero finds a mode that has the
   wrong sign there, and one that starts at the zero of a switching function starts at none of an indicator. */
EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, double g[], size_t n) {
    const Data *d = &((Instance *)c)->now;
    if (n != NS) return fail(c, "another number of event indicators was asked for.");
    if (NS) switches(d, d->t, d->x, g);
    for (size_t i = 0; i < n; i++) g[i] += BEHIND * d->s[i];
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, double nominal[], size_t n) {
    for (size_t i = 0; i < n; i++) nominal[i] = 1;
    return fmi2OK;
}

/* Co-simulation. */

EXPORT fmi2Status fmi2DoStep(fmi2Component c, double from, double length, int no_way_back) {
    return advance(c, from + length);
}

EXPORT fmi2Status fmi2CancelStep(fmi2Component c) { return fail(c, "a step is never pending."); }

EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2Reference which[], size_t n, const int order[],
                                              const double values[]) {
    return n == 0 ? fmi2OK : fail(c, "inputs are held during a step.");
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2Reference which[], size_t n,
                                               const int order[], double values[]) {
    return n == 0 ? fmi2OK : fail(c, "rates of outputs are not known; those of states are variables.");
}

EXPORT fmi2Status fmi2GetStatus(fmi2Component c, int kind, fmi2Status *value) { return fmi2Discard; }
EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, int kind, int *value) { return fmi2Discard; }
EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, int kind, fmi2String *value) { return fmi2Discard; }

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, int kind, double *value) {
    *value = ((Instance *)c)->now.t; /* the last time that was reached */
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, int kind, int *value) {
    *value = 0;
    return fmi2OK;
}
