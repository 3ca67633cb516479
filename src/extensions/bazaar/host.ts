import { BlockList, isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import { hasHiddenCharacters } from './visibleText.js'

/** Null: `hostname` (ASCII, as `URL` writes it) belongs to one writing system a label, and is visible. */
export const findHostProblem = (hostname: string): string | null => {
  const shown = domainToUnicode(hostname)
  if (shown === '' && hostname.includes('xn--')) return 'is not valid punycode'
  if (hasHiddenCharacters(shown)) return 'contains invisible characters'
  const mixed = shown.split('.').find(mixesScripts)
  return mixed === undefined ? null : 'mixes writing systems in one label, as look-alike names do'
}

// UTS 39, highly restrictive: these are written together; Latin may stand beside the East Asian ones.
const eastAsian = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'] as const
const others = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Bengali',
  'Tamil',
  'Telugu',
  'Thai',
  'Georgian',
  'Cherokee',
  'Ethiopic',
  'Khmer',
  'Lao',
  'Myanmar',
  'Sinhala',
  'Tibetan',
  'Mongolian',
  'Coptic',
  'Lisu',
  'Canadian_Aboriginal',
] as const
const asianLetters = new RegExp(eastAsian.map((script) => `\\p{Script=${script}}`).join('|'), 'u')
const scripts = others.map((script) => ({ script, letters: new RegExp(`\\p{Script=${script}}`, 'u') }))

const mixesScripts = (label: string): boolean => {
  const found = scripts.filter(({ letters }) => letters.test(label)).map(({ script }) => script)
  if (asianLetters.test(label)) return found.some((script) => script !== 'Latin')
  return found.length > 1
}

const privateAddresses = new BlockList()
const privateBlocks = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const
const privateBlocks6 = [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const
for (const [network, prefix] of privateBlocks) privateAddresses.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of privateBlocks6) privateAddresses.addSubnet(network, prefix, 'ipv6')

const privateNames = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|corp|home|home\.arpa)$/

/**
 * Whether the host is this machine or in its network. `hostname` is as `URL` writes it, where addresses are canonical.
 */
export const isPrivateHost = (hostname: string): boolean => {
  const name = hostname.replace(/\.$/, '')
  const address = name.startsWith('[') ? name.slice(1, -1) : name
  const family = isIP(address)
  // IPv4-mapped addresses are compared as IPv4.
  if (family !== 0) return privateAddresses.check(address, family === 6 ? 'ipv6' : 'ipv4')
  return !name.includes('.') || privateNames.test(name)
}
