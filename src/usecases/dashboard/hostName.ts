import { domainToASCII } from 'node:url'

const host =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/

/** Lower-case ASCII (punycode); null if invalid, such as a URL or a pattern. */
export const normalizeHostName = (text: string): string | null => {
  // Characters that `domainToASCII` would strip or reinterpret.
  if (text.length > 253 || /[\p{C}\p{Z}/?#@:%*[\]\\]/u.test(text)) return null
  const name = domainToASCII(text.replace(/\.$/, ''))
  return host.test(name) ? name : null
}

/** Matches entries and their subdomains; `allowed` must be normalized. */
export const isHostAllowed = (allowed: readonly string[], hostName: string | null): boolean => {
  const name = hostName === null ? null : normalizeHostName(hostName)
  return name !== null && allowed.some((entry) => name === entry || name.endsWith(`.${entry}`))
}
