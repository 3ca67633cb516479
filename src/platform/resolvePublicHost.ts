import { Resolver } from 'node:dns/promises'

/** The addresses of a host name; rejects or is empty where it has none. */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

/**
 * Asks name servers for all addresses of a host. Not the system's own look-up: that occupies one of the process's
 * four threads for as long as a stranger's name server likes, and knows names that are only for this machine.
 */
export const resolvePublicHost: ResolveHost = async (hostname, signal) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
