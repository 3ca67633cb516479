/*
 * Preloaded into an instance: shifts `Date` by the milliseconds received over IPC;
 * exits when the channel closes.
 */

let shiftMs = 0

globalThis.Date = new Proxy(Date, {
  construct: (target, parts, newTarget) =>
    Reflect.construct(target, parts.length === 0 ? [target.now() + shiftMs] : parts, newTarget),
  get: (target, name) => (name === 'now' ? () => target.now() + shiftMs : Reflect.get(target, name)),
})

process.on('message', (message) => {
  const receivedMs = Number(message)
  if (Number.isFinite(receivedMs)) shiftMs = receivedMs
})
process.on('disconnect', () => process.exit(1))
// The channel must not keep the instance alive.
process.channel?.unref()
