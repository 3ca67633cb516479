import type { ServerResponse } from 'node:http'

const refused = new WeakSet<ServerResponse>()
const unlogged = new WeakSet<ServerResponse>()

/**
 * For responses that refuse the caller itself: over its own limit, with a wrong key, or on an unknown path. Never for what
 * another party caused, such as a limit of a payer: the mark counts against the caller.
 */
export const markRefused = (response: ServerResponse): void => {
  refused.add(response)
}

export const isRefused = (response: ServerResponse): boolean => refused.has(response)

export const markUnlogged = (response: ServerResponse): void => {
  unlogged.add(response)
}

export const isUnlogged = (response: ServerResponse): boolean => unlogged.has(response)
