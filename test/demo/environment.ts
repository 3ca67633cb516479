import { serviceVariables } from '../../src/config/environment.js'

// The demo has its own. An empty value counts as absent, and keeps that of a file .env out.
const own = [
  'HOST',
  'PORT',
  'LOG_LEVEL',
  'DATA_FOLDER',
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  'KEY_ENCRYPTION_SECRET',
  'KEY_ENCRYPTION_PREVIOUS_SECRET',
]

/** Settings of the service that the demo's facilitator takes over: keys, limits, registration, waits. */
export const createDemoEnvironment = (
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> => ({
  // The inbox of the shop is on this machine.
  WEBHOOK_ALLOW: environment.WEBHOOK_ALLOW ?? 'loopback',
  ...Object.fromEntries(
    serviceVariables.flatMap((name) => {
      const value = environment[name]
      return value === undefined || own.includes(name) ? [] : [[name, value]]
    }),
  ),
  ...Object.fromEntries(own.map((name) => [name, ''])),
})
