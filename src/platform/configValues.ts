import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { readTierTable } from '../protocol/tiers.js'
import { createAddressBlocks } from './addressBlocks.js'
import { Secret } from './secret.js'

export const secretUrl = (...protocols: readonly string[]) =>
  z
    .string()
    .refine(
      (text) => {
        try {
          return protocols.includes(new URL(text).protocol)
        } catch {
          return false
        }
      },
      `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    )
    .transform((text) => new Secret(text))

export const cidrBlocks = z.string().transform((text, context) => {
  const { normalize } = createAddressBlocks()
  // No hop counts: a client can forge them by adding a header.
  const blocks = text.split(',').map((part) => normalize(part.trim()))
  const valid = blocks.filter((block) => block !== null)
  if (valid.length < blocks.length) {
    context.addIssue({ code: 'custom', message: 'must list addresses or CIDR blocks, comma separated' })
    return z.NEVER
  }
  // Fastify refuses it too: every client could then choose its own address.
  if (valid.some((block) => block.endsWith('/0'))) {
    context.addIssue({
      code: 'custom',
      message: 'must not contain a block of all addresses, such as 0.0.0.0/0',
    })
    return z.NEVER
  }
  return valid
})

/** As browsers send it: lower case, no default port, no path. `*` is rejected although it is valid in a URL host. */
const isOrigin = (text: string): boolean => {
  if (!URL.canParse(text) || text.includes('*')) return false
  const { origin, protocol, hostname } = new URL(text)
  return origin === text && (protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost'))
}

export const pageOrigins = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine(
    (origins) => origins.every(isOrigin),
    'must list origins such as https://shop.example, comma separated; http for localhost only',
  )

export const visibleText = (minimum: number) =>
  z
    .string()
    .regex(new RegExp(`^[\\x21-\\x7e]{${minimum},}$`), `must be ${minimum} or more visible ASCII characters`)
    .transform((text) => new Secret(text))

export const oneLine = z
  .string()
  .regex(/^\P{Cc}+$/u, 'must be one line')
  .transform((text) => new Secret(text))

export const mailSender = z
  .string()
  .regex(
    /^(?:[^\p{C}<>"@]{1,100} <[^\s\p{C}<>"@]+@[^\s\p{C}<>"@]+>|[^\s\p{C}<>"@]+@[^\s\p{C}<>"@]+)$/u,
    'must be an e-mail address, or a name and one such as Payments <keys@example.com>',
  )

export const defaultPublicMailDomains = [
  ...[
    'aol.com',
    'fastmail.com',
    'gmail.com',
    'gmx.de',
    'gmx.net',
    'googlemail.com',
    'hotmail.com',
    'icloud.com',
  ],
  ...['live.com', 'mail.ru', 'me.com', 'naver.com', 'outlook.com', 'proton.me', 'protonmail.com', 'qq.com'],
  ...['web.de', 'yahoo.com', 'yandex.ru', '163.com'],
]

export const domainNames = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim().toLowerCase()))
  .refine(
    (names) => names.every((name) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(name)),
    'must list domains such as gmail.com, comma separated',
  )

/** Names of variables; `*` at the end stands for any rest. */
export const variableNames = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .refine(
    (names) => names.every((name) => /^[A-Za-z_][A-Za-z0-9_.-]*\*?$/.test(name)),
    'must list names of variables such as APP_NAME or APP_*, comma separated',
  )

/** JSON, or the path of a file with JSON. */
export const tierTable = z.string().transform((text, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  }
  const json = text.startsWith('{') ? text : readTextFile(text)
  if (json === null) return refuse('must be a JSON object of tiers, or the path of a file that can be read')
  const read = readTierTable(json)
  return 'problems' in read ? refuse(read.problems.join('; ')) : read.table
})

const readTextFile = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

export const ownNetworkBlocks = {
  loopback: ['127.0.0.0/8', '::1'],
  // RFC 1918 and RFC 4193. Not link-local: metadata services of clouds answer there.
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
} as const

const targetNames: Readonly<Record<string, readonly string[]>> = ownNetworkBlocks

export const webhookTargets = z.string().transform((text, context) => {
  const { normalize } = createAddressBlocks()
  const blocks = text.split(',').flatMap((part): readonly (string | null)[] => {
    const name = part.trim()
    return Object.hasOwn(targetNames, name) ? (targetNames[name] ?? []) : [normalize(name)]
  })
  const valid = blocks.filter((block) => block !== null)
  if (valid.length < blocks.length || valid.some((block) => block.endsWith('/0'))) {
    context.addIssue({
      code: 'custom',
      message: 'must list loopback, private, addresses or CIDR blocks, comma separated; not all addresses',
    })
    return z.NEVER
  }
  return valid
})
