/*
 * Preloaded into an instance (`node --import`): its wall clock goes wrong by as many milliseconds as it is told
 * over Node's channel, and it ends when the channel does, so that no end of the suite leaves it behind.
 * What runs after it sees nothing but a machine whose time is off.
 */

let shiftMs = 0

globalThis.Date = new Proxy(Date, {
  construct: (target, parts, newTarget) =>
    Reflect.construct(target, parts.length === 0 ? [target.now() + shiftMs] : parts, newTarget),
  get: (target, name) => (name === 'now' ? () => target.now() + shiftMs : Reflect.get(target, name)),
})

process.on('message', (told) => {
  const toldMs = Number(told)
  if (Number.isFinite(toldMs)) shiftMs = toldMs
})
process.on('disconnect', () => process.exit(1))
// Listening must not keep an instance alive that wants to end.
process.channel?.unref()
