// Measures a program under MicroPython as WebAssembly. Arguments: MODULE LIBRARY PROGRAM ARGUMENT...
// It collects garbage between two calls from outside only, so each step of the program is a call of its own.
// The folders LIBRARY and plans of the working directory are there to be read, under the same names.
import fs from "node:fs";
import path from "node:path";

const [module, library, program, ...rest] = process.argv.slice(2);
const { loadMicroPython } = await import(module);
const micropython = await loadMicroPython({ heapsize: 1 << 20, linebuffer: true, stdout: (line) => console.log(line) });

function copy(host, inside) {
  if (fs.statSync(host).isDirectory()) {
    micropython.FS.mkdirTree(inside);
    for (const name of fs.readdirSync(host)) copy(path.join(host, name), `${inside}/${name}`);
  } else if (/\.(py|mpy|json|txt)$/.test(host)) {
    micropython.FS.writeFile(inside, fs.readFileSync(host));
  }
}

const run = (text) => micropython.runPython(text);
try {
  copy(library, library);
  copy("plans", "plans");
  copy(path.dirname(program), "programs");
  run(`import sys, gc
sys.argv[:] = ${JSON.stringify([program, ...rest])}
sys.path[:] = [${JSON.stringify(library)}, "programs", ".frozen"]
import ${path.basename(program, ".py")} as program
steps = program.figures()
first, used, done = -1, 0, False
def tell():
    global first
    if isinstance(step, str):
        first = used if first < 0 else first
        print(step, used - first)
    elif step:
        print(step[0], step[1])`);
  while (!micropython.globals.get("done")) {
    run("step = next(steps, None)");
    run("gc.collect()");
    run("used = gc.mem_alloc()");
    run("done = step is None\ntell()");
  }
} catch (error) {
  console.error(String(error.message ?? error));
  process.exitCode = 1;
}
