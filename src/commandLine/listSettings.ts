import type { Setting } from '../admin/runAdmin.js'
import { isFamilyVariable, readServiceVariables, serviceVariables } from '../config.js'
import { Secret } from '../platform/secret.js'

type Environment = Readonly<Record<string, string | undefined>>

const secretName = /(KEY|MNEMONIC|SECRET|TOKEN|PASSWORD)(_|$)/

/** Every variable of the service, and those of chain families that are set, for a valid environment. */
export const listSettings = (environment: Environment): readonly Setting[] => {
  const values = readServiceVariables(environment)
  const service = serviceVariables.map((name) => describeService(name, values[name], environment))
  const families = Object.entries(environment)
    .filter(([name, value = '']) => isFamilyVariable(name) && value.trim() !== '')
    .map(([name, value = '']) => describeFamily(name, value.trim()))
  return [...service, ...families.sort((left, right) => (left.name < right.name ? -1 : 1))]
}

const describeService = (name: string, value: unknown, environment: Environment): Setting => {
  if (value === undefined) return { name, value: null, source: 'unset', isSecret: false }
  const source = (environment[name] ?? '').trim() === '' ? 'default' : 'environment'
  if (!(value instanceof Secret)) {
    return { name, value: Array.isArray(value) ? value.join() : String(value), source, isSecret: false }
  }
  const hosts = readHosts(value.reveal())
  return { name, value: hosts, source, isSecret: hosts === null }
}

const describeFamily = (name: string, text: string): Setting => {
  const hosts = readHosts(text)
  if (hosts !== null) return { name, value: hosts, source: 'environment', isSecret: false }
  const isSecret = secretName.test(name) || text.includes('://')
  return { name, value: isSecret ? null : text, source: 'environment', isSecret }
}

/** Protocol and host of URLs: users, paths and queries often hold keys. Null for any other text. */
const readHosts = (text: string): string | null => {
  const parts = text.split(',').map((part) => part.trim())
  const isUrl = (part: string) => /^[a-z]+:\/\//.test(part) && URL.canParse(part)
  if (!parts.every(isUrl)) return null
  return parts
    .map((part) => new URL(part))
    .map(({ protocol, host }) => `${protocol}//${host}`)
    .join()
}
