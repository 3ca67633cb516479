import type { Secret } from '../../platform/secret.js'

const shortestSecret = 6

/** Removes secrets of a URL from a node's error text: some gateways quote the key that they refuse. */
export const createUrlScrubber = (url: Secret): ((text: string) => string) => {
  const { pathname, searchParams, username, password } = new URL(url.reveal())
  const parts = [...pathname.split('/'), ...searchParams.values(), username, password]
  const secrets = parts
    .flatMap((part) => [part, decode(part), encodeURIComponent(part)])
    .filter((part) => part.length >= shortestSecret)
  return (text) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '…'), text)
}

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
