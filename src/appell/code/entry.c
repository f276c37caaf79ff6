/* The way into a native function f(t, x, w, p) from Python, with w and p held.

   A call with a float and one state in an array runs f on the array where it lies and returns a new one; whatever else
   comes is handed on to a Python function. FUNCTION, NX, NY, SZ_ARG, SZ_RES, SZ_IW and SZ_W are defined above. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stddef.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *w, *p, *otherwise;
} Bound;

static PyObject *bound_call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names) {
    Bound *bound = (Bound *)self;
    PyArrayObject *x = PyVectorcall_NARGS(flagged) == 2 && names == NULL ? (PyArrayObject *)args[1] : NULL;
    if (x == NULL || !PyFloat_Check(args[0]) || !PyArray_CheckExact(x) || PyArray_NDIM(x) != 1 ||
        PyArray_DIM(x, 0) != NX || PyArray_TYPE(x) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(x))
        return PyObject_Vectorcall(bound->otherwise, args, flagged, names);
    npy_intp size = NY;
    PyObject *y = PyArray_SimpleNew(1, &size, NPY_DOUBLE);
    if (y == NULL) return NULL;
    double t = PyFloat_AS_DOUBLE(args[0]);
    const double *arg[SZ_ARG] = {&t, PyArray_DATA(x), PyArray_DATA((PyArrayObject *)bound->w),
                                 PyArray_DATA((PyArrayObject *)bound->p)};
    double *res[SZ_RES] = {PyArray_DATA((PyArrayObject *)y)};
    long long int iw[SZ_IW + 1];
    double w[SZ_W + 1];
    if (FUNCTION(arg, res, iw, w, 0)) {
        Py_DECREF(y);
        PyErr_SetString(PyExc_RuntimeError, "the native function failed");
        return NULL;
    }
    return y;
}

static PyObject *bound_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *w, *p, *otherwise;
    if (!PyArg_ParseTuple(args, "OOO", &w, &p, &otherwise)) return NULL;
    Bound *self = (Bound *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->call = bound_call;
    self->otherwise = Py_NewRef(otherwise);
    self->w = PyArray_FROM_OTF(w, NPY_DOUBLE, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSURECOPY);
    self->p = PyArray_FROM_OTF(p, NPY_DOUBLE, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSURECOPY);
    if (self->w == NULL || self->p == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int bound_traverse(Bound *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->otherwise);
    return 0;
}

static int bound_clear(Bound *self) {
    Py_CLEAR(self->w);
    Py_CLEAR(self->p);
    Py_CLEAR(self->otherwise);
    return 0;
}

static void bound_dealloc(Bound *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    bound_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Bound, call), READONLY, NULL}, {NULL}};

static PyType_Slot bound_slots[] = {{Py_tp_doc, "(t, x) -> f(t, x, w, p) as a new array."},
                                    {Py_tp_new, bound_new},
                                    {Py_tp_call, PyVectorcall_Call},
                                    {Py_tp_members, bound_members},
                                    {Py_tp_traverse, bound_traverse},
                                    {Py_tp_clear, bound_clear},
                                    {Py_tp_dealloc, bound_dealloc},
                                    {0, NULL}};

static PyType_Spec bound_spec = {"appell.code.entry.Bound", sizeof(Bound), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, bound_slots};

static int entry_exec(PyObject *module) {
    import_array1(-1);
    PyObject *type = PyType_FromSpec(&bound_spec);
    if (type == NULL) return -1;
    int failed = PyModule_AddObjectRef(module, "Bound", type);
    Py_DECREF(type);
    return failed;
}

static PyModuleDef_Slot entry_slots[] = {{Py_mod_exec, entry_exec}, {0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "entry", NULL, 0, NULL, entry_slots};

PyMODINIT_FUNC PyInit_entry(void) { return PyModuleDef_Init(&definition); }
