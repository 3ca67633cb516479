/*
 * Setup of every test file. A worker ends with the run: vitest lets it go on when the main process is killed, and no exit
 * hook runs in a process that a signal ends, as Ctrl-C does to all of its group.
 */

const onSignal = (signal: NodeJS.Signals): void => {
  // Not process.exit, which vitest replaces by an error.
  process.emit('exit', 1)
  process.kill(process.pid, signal)
}
const endWithMain = (): void => {
  process.emit('exit', 1)
  process.kill(process.pid, 'SIGKILL')
}

// The files of a worker share its process, and each of them runs its setup.
const isSetUp = process.listeners('disconnect').some(({ name }) => name === endWithMain.name)
if (!isSetUp) {
  process.once('disconnect', endWithMain)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal)
}
