import type { AnyChainFamily } from '../chains/chain.js'
import { families as knownFamilies } from '../chains/index.js'
import { variableNames } from '../platform/configValues.js'
import {
  isSecretName,
  nameOfSecretFile,
  readSecretFiles,
  type SecretFilesReading,
  secretFileOf,
} from '../platform/secretFiles.js'
import {
  findMeantName,
  findMisspelt,
  isKnownName,
  isOfOrchestrator,
  isOfPlatform,
  type KnownNames,
} from '../platform/variableNames.js'
import { environmentShape, serviceVariables } from './environment.js'

/** Families hide their parsed settings, so that their variables are told by name. */
export const isFamilyVariable = (name: string): boolean =>
  isKnownName(
    name,
    knownFamilies.flatMap(({ variables }) => variables?.known ?? []),
  )

export const listPresent = (
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> => {
  const present: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value.trim() !== '') present[name] = value.trim()
  }
  return present
}

/** Every variable of the service with its value or default, for a valid environment; secrets print as `[secret]`. */
export const readServiceVariables = (
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, unknown>> => environmentShape.parse(listPresent(environment))

/** The settings of an environment, with the content of secret files in place of their paths, for a valid environment. */
export const readSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): Pick<SecretFilesReading, 'environment' | 'namesInFiles'> =>
  readSecretFiles(sortVariables(listPresent(environment), knownFamilies, []).present)

/** The settings among these that may be given as files, by the names of those variables. */
const listSecretFiles = ({ names }: KnownNames): KnownNames => ({
  names: names.filter(isSecretName).map(secretFileOf),
})

/** Which variables are for the service, and which are mistakes. */
export const sortVariables = (
  given: Readonly<Record<string, string>>,
  families: readonly AnyChainFamily[],
  namesInFile: readonly string[],
): { readonly present: Readonly<Record<string, string>>; readonly problems: readonly string[] } => {
  const familyNames = families.flatMap(({ variables }) => variables ?? [])
  const settings: readonly KnownNames[] = [
    { names: serviceVariables },
    ...familyNames.map((each) => each.known),
  ]
  const known = [...settings, ...settings.map(listSecretFiles)]
  const named = variableNames.safeParse(given.OTHER_VARIABLES ?? '').data ?? []
  const isOther = (name: string): boolean =>
    isOfPlatform(name) ||
    (isOfOrchestrator(name) && !namesInFile.includes(name)) ||
    named.some((other) => (other.endsWith('*') ? name.startsWith(other.slice(0, -1)) : name === other))

  const present: Record<string, string> = {}
  const problems: string[] = []
  for (const [name, value] of Object.entries(given)) {
    if (isKnownName(name, known) || isKnownName(nameOfSecretFile(name) ?? '', settings)) {
      present[name] = value
      continue
    }
    if (isOther(name)) continue
    const isInFile = namesInFile.includes(name)
    const isOfFamily = familyNames.some(({ prefix }) => name.startsWith(prefix))
    const setting = name.replace(/_FILE$/, '')
    if ((isInFile || isOfFamily) && setting !== name && isKnownName(setting, settings)) {
      problems.push(
        `${name}: is not a known setting; only secrets can be given as files, and ${setting} is none`,
      )
      continue
    }
    // The family reports what begins with its prefix.
    if (isOfFamily) {
      present[name] = value
      continue
    }
    const meant = isInFile ? findMeantName(name, known) : findMisspelt(name, known)
    // Another program's variable of nearly the same name: the setting itself is there.
    if (!isInFile && (meant === null || given[meant] !== undefined)) continue
    const advice = meant === null ? '' : `; did you mean ${meant}?`
    problems.push(
      `${name}: is not a known setting${advice === '' ? ';' : `${advice} If not,`} remove it${isInFile ? ' from .env' : ''}, or name it in OTHER_VARIABLES if another program reads it`,
    )
  }
  return { present, problems }
}
