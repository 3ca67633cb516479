import { domainToASCII } from 'node:url'

const host =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/

/** The one way to write a host's name: lower case, ASCII; null for what is none, such as a URL or a pattern. */
export const normalizeHostName = (text: string): string | null => {
  // What the conversion would cut off or read as something else.
  if (text.length > 253 || /[\p{C}\p{Z}/?#@:%*[\]\\]/u.test(text)) return null
  const name = domainToASCII(text.replace(/\.$/, ''))
  return host.test(name) ? name : null
}

/** Whether a host is one of these or lies below one; the entries are normalized. */
export const isHostAllowed = (allowed: readonly string[], hostName: string | null): boolean => {
  const name = hostName === null ? null : normalizeHostName(hostName)
  return name !== null && allowed.some((entry) => name === entry || name.endsWith(`.${entry}`))
}
