import { z } from 'zod'
import { Secret } from '../../platform/secret.js'
import { findMeantName, type KnownNames } from '../../platform/variableNames.js'

/** Splits at commas, trims, and drops empty parts. */
export const splitList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** One or more entries, comma separated. */
export const listOf = (isEntry: (text: string) => boolean, message: string) =>
  z.string().transform((text, context): readonly string[] => {
    const entries = splitList(text)
    if (entries.length > 0 && entries.every(isEntry)) return entries
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

const isHttpUrl = (text: string): boolean => {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol)
  } catch {
    return false
  }
}

/** One or more http(s) URLs, in order of preference. Secret: paths and queries often hold API keys. */
export const nodeUrls = listOf(isHttpUrl, 'must be one or several http(s) URLs, comma separated').transform(
  (urls) => urls.map((url) => new Secret(url)),
)

/** Some nodes ask for a key. */
export const apiKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be visible ASCII characters')
  .transform((text) => new Secret(text))

/** A token amount in smallest units with at most this many decimal digits. */
export const smallestUnits = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9]{1,${digits}}$`), 'must be an amount in smallest units')
    .transform(BigInt)

interface FamilyVariables<Family extends z.ZodRawShape, Network extends z.ZodRawShape> {
  /** Such as `EVM_`: an unknown variable with this prefix is reported as a mistake. */
  readonly prefix: string
  /** True: the keys of the shapes leave the prefix out. */
  readonly omitsPrefix?: boolean
  readonly family: Family
  /** Keyed by the variable's name without the network suffix. */
  readonly perNetwork: Network
  readonly networkId: {
    readonly form: RegExp
    /** What the suffix is called in messages, such as `chain id`. */
    readonly label: string
    readonly example: string
  }
}

type FamilyReading<Family extends z.ZodRawShape, Network extends z.ZodRawShape> =
  | { readonly problems: readonly string[] }
  | {
      readonly family: z.infer<z.ZodObject<Family>>
      readonly networks: ReadonlyMap<string, z.infer<z.ZodObject<Network>>>
    }

// A schema that parses one value is not worth its compilation.
const once = { jitless: true } as const

/** Reads a family's environment variables. Problems name the variable, never its value. */
export const readFamilyVariables = <Family extends z.ZodRawShape, Network extends z.ZodRawShape>(
  variables: FamilyVariables<Family, Network>,
  fullEnvironment: Readonly<Record<string, string>>,
): FamilyReading<Family, Network> => {
  const { networkId } = variables
  const omitted = omittedPrefixOf(variables)
  const environment = removePrefix(fullEnvironment, omitted)
  const form = new RegExp(`^(${Object.keys(variables.perNetwork).join('|')})_(${networkId.form.source})$`)
  const problems = Object.keys(environment).flatMap((name) => describeUnknown(variables, form, name))
  const addProblems = (name: (path: string) => string, error: z.ZodError) => {
    for (const issue of error.issues) {
      problems.push(`${omitted}${name(String(issue.path[0]))}: ${issue.message}`)
    }
  }

  const family = z.object(variables.family).safeParse(environment, once)
  if (!family.success) addProblems((path) => path, family.error)

  const perNetwork = new Map<string, Record<string, string>>()
  for (const [variable, value] of Object.entries(environment)) {
    const [, name, id] = form.exec(variable) ?? []
    if (name === undefined || id === undefined) continue
    perNetwork.set(id, { ...perNetwork.get(id), [name]: value })
  }
  const shape = z.object(variables.perNetwork)
  const networks = new Map<string, z.infer<typeof shape>>()
  for (const [id, given] of perNetwork) {
    const parsed = shape.safeParse(given, once)
    if (parsed.success) networks.set(id, parsed.data)
    else addProblems((path) => `${path}_${id}`, parsed.error)
  }
  return !family.success || problems.length > 0 ? { problems } : { family: family.data, networks }
}

/** Names of a family's variables. */
export interface FamilyVariableNames {
  /** What begins with it is one of them, or a mistake. */
  readonly prefix: string
  readonly family: readonly string[]
  /** They end in a placeholder, as the documentation writes them. */
  readonly perNetwork: readonly string[]
  /** Misspelt names are compared with them. */
  readonly known: KnownNames
}

export const listFamilyVariables = <Family extends z.ZodRawShape, Network extends z.ZodRawShape>(
  variables: FamilyVariables<Family, Network>,
): FamilyVariableNames => {
  const { prefix, networkId } = variables
  const omitted = omittedPrefixOf(variables)
  const family = Object.keys(variables.family).map((name) => `${omitted}${name}`)
  const perNetwork = Object.keys(variables.perNetwork).map((name) => `${omitted}${name}`)
  return {
    prefix,
    family,
    perNetwork: perNetwork.map((name) => `${name}_<${networkId.label}>`),
    known: { names: family, perNetwork: { names: perNetwork, suffix: networkId.form } },
  }
}

const omittedPrefixOf = ({
  prefix,
  omitsPrefix = false,
}: {
  readonly prefix: string
  readonly omitsPrefix?: boolean
}): string => (omitsPrefix ? prefix : '')

const removePrefix = (
  environment: Readonly<Record<string, string>>,
  prefix: string,
): Readonly<Record<string, string>> =>
  prefix === ''
    ? environment
    : Object.fromEntries(
        Object.entries(environment).flatMap(([name, value]) =>
          name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
        ),
      )

const describeUnknown = <Family extends z.ZodRawShape, Network extends z.ZodRawShape>(
  variables: FamilyVariables<Family, Network>,
  form: RegExp,
  variable: string,
): readonly string[] => {
  const { prefix, omitsPrefix = false, family, perNetwork, networkId } = variables
  const isOurs = omitsPrefix || variable.startsWith(prefix)
  if (!isOurs || Object.hasOwn(family, variable) || form.test(variable)) return []
  const omitted = omittedPrefixOf(variables)
  const intended = Object.keys(perNetwork).find((name) => `${variable}_`.startsWith(`${name}_`))
  const problem = `${omitted}${variable}: is not a known setting`
  if (intended !== undefined) {
    return [
      `${problem}; write ${omitted}${intended}_<${networkId.label}>, such as ${omitted}${intended}_${networkId.example}`,
    ]
  }
  const meant = findMeantName(`${omitted}${variable}`, [listFamilyVariables(variables).known])
  return [meant === null ? problem : `${problem}; did you mean ${meant}?`]
}
