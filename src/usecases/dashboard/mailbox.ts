import { domainToASCII } from 'node:url'
import { AppError } from '../../errors.js'
import type { Mailbox } from '../../ports/accountStore.js'

const maxLength = 254
const maxLocalLength = 64
// Letters of any script; no white space, control or format characters, no RFC 5322 specials.
const localPart = /^[^\p{C}\p{Z}"(),:;<>@[\\\]]+$/u
const invisible = /\p{Default_Ignorable_Code_Point}/u
const label = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** Trimmed, Unicode NFC. Throws INVALID_REQUEST. */
export const readEmail = (text: string): string => {
  const email = text.length > maxLength * 4 ? '' : text.trim().normalize('NFC')
  const at = email.lastIndexOf('@')
  const local = email.slice(0, at)
  const labels = email.slice(at + 1).split('.')
  const isAddress =
    at > 0 &&
    email.length <= maxLength &&
    local.length <= maxLocalLength &&
    localPart.test(local) &&
    !invisible.test(email) &&
    !/^\.|\.\.|\.$/.test(local) &&
    labels.length > 1 &&
    labels.every((one) => label.test(one)) &&
    // Excludes IPv4 addresses.
    !/^\p{N}+$/u.test(labels.at(-1) ?? '')
  if (!isAddress)
    throw new AppError('INVALID_REQUEST', 'email: must be an e-mail address of at most 254 characters')
  return email
}

// Second-level registries such as co.uk, com.au and ac.jp.
const underRegistry = /[^.]+\.[^.]{1,3}\.[a-z]{2}$/
const underTopLevel = /[^.]+\.[^.]+$/

// Google delivers all spellings with dots to one person, and gives none of them to another. At other providers the person
// without the dot can be another one.
const domainsWithoutDots: readonly string[] = ['gmail.com', 'googlemail.com']

/**
 * The identity behind all spellings of an address: NFKC, lower case, the domain in ASCII (IDNA), without `+tag`, and without
 * dots where the provider is known to ignore them. Migration 0010 computed the same for ASCII addresses, but kept these dots.
 */
export const canonicalMailbox = (email: string): Mailbox => {
  const folded = email.normalize('NFKC').toLowerCase()
  const at = folded.lastIndexOf('@')
  const local = folded.slice(0, at)
  const untagged = /^[^+]+/.exec(local)?.[0] ?? local
  const unicode = folded.slice(at + 1)
  const domain = domainToASCII(unicode) || unicode
  if (domainsWithoutDots.includes(domain)) {
    return { mailbox: `${untagged.replaceAll('.', '')}@gmail.com`, domain: 'gmail.com' }
  }
  return { mailbox: `${untagged}@${domain}`, domain: readRegistrableDomain(domain) }
}

/** A heuristic in place of the public suffix list: it errs by counting a short second-level domain as a registry. */
const readRegistrableDomain = (domain: string): string =>
  underRegistry.exec(domain)?.[0] ?? underTopLevel.exec(domain)?.[0] ?? domain
