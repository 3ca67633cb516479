import { domainToASCII } from 'node:url'
import type { Mailbox } from '../../ports/accountStore.js'

// Second-level registries such as co.uk, com.au and ac.jp.
const underRegistry = /[^.]+\.[^.]{1,3}\.[a-z]{2}$/
const underTopLevel = /[^.]+\.[^.]+$/

/**
 * The identity behind all spellings of an address: NFKC, lower case, the domain in ASCII (IDNA), without `+tag`. The
 * migration computes the same for ASCII addresses. Dots count: only some providers ignore them.
 */
export const canonicalMailbox = (email: string): Mailbox => {
  const folded = email.normalize('NFKC').toLowerCase()
  const at = folded.lastIndexOf('@')
  const local = folded.slice(0, at)
  const untagged = /^[^+]+/.exec(local)?.[0] ?? local
  const unicode = folded.slice(at + 1)
  const domain = domainToASCII(unicode) || unicode
  return { mailbox: `${untagged}@${domain}`, domain: readRegistrableDomain(domain) }
}

/** A heuristic in place of the public suffix list: it errs by counting a short second-level domain as a registry. */
const readRegistrableDomain = (domain: string): string =>
  underRegistry.exec(domain)?.[0] ?? underTopLevel.exec(domain)?.[0] ?? domain
