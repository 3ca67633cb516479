import type { Secret } from '../../platform/secret.js'

const shortestSecret = 6

/** Takes out of a node's words what they repeat of its URL: some gateways quote the key that they refuse. */
export const createUrlScrubber = (url: Secret): ((words: string) => string) => {
  const { pathname, searchParams, username, password } = new URL(url.reveal())
  const parts = [...pathname.split('/'), ...searchParams.values(), username, password]
  const secrets = parts
    .flatMap((part) => [part, decode(part), encodeURIComponent(part)])
    .filter((part) => part.length >= shortestSecret)
  return (words) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '…'), words)
}

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
