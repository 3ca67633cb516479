import { serviceVariables } from '../../config/environment.js'
import { isFamilyVariable, readServiceVariables, readSettings } from '../../config/sortVariables.js'
import { Secret } from '../../platform/secret.js'
import type { Setting } from './tables.js'

type Environment = Readonly<Record<string, string | undefined>>

const secretName = /(KEY|MNEMONIC|SECRET|TOKEN|PASSWORD)(_|$)/

/** Every variable of the service, and those of chain families that are set, for a valid environment. */
export const listSettings = (given: Environment): readonly Setting[] => {
  const { environment, namesInFiles } = readSettings(given)
  const values = readServiceVariables(environment)
  const sourceOf = (name: string) => (namesInFiles.includes(name) ? 'file' : 'environment')
  const service = serviceVariables.map((name) =>
    describeService(name, values[name], environment[name] === undefined ? 'default' : sourceOf(name)),
  )
  const families = Object.entries(environment)
    .filter(([name]) => isFamilyVariable(name))
    .map(([name, text]) => describeFamily(name, text, sourceOf(name)))
  return [...service, ...families.sort((left, right) => (left.name < right.name ? -1 : 1))]
}

type Source = Setting['source']

const describeService = (name: string, value: unknown, source: Source): Setting => {
  if (value === undefined) return { name, value: null, source: 'unset', isSecret: false }
  if (!(value instanceof Secret)) {
    return { name, value: Array.isArray(value) ? value.join() : String(value), source, isSecret: false }
  }
  const hosts = readHosts(value.reveal())
  return { name, value: hosts, source, isSecret: hosts === null }
}

const describeFamily = (name: string, text: string, source: Source): Setting => {
  const hosts = readHosts(text)
  if (hosts !== null) return { name, value: hosts, source, isSecret: false }
  const isSecret = secretName.test(name) || text.includes('://')
  return { name, value: isSecret ? null : text, source, isSecret }
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
