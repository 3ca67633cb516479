import { z } from 'zod'
import { Secret } from '../../platform/secret.js'

/** The parts of a comma-separated list, without those that are empty. */
export const splitList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** One or several http(s) URLs of nodes, in order of preference; their paths and queries often hold keys. */
export const nodeUrls = z.string().transform((text, context) => {
  const urls = splitList(text)
  if (urls.length === 0 || urls.some((url) => !isHttpUrl(url))) {
    context.addIssue({ code: 'custom', message: 'must be one or several http(s) URLs, comma separated' })
    return z.NEVER
  }
  return urls.map((url) => new Secret(url))
})

const isHttpUrl = (text: string): boolean => {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol)
  } catch {
    return false
  }
}

/** An amount of a token in its smallest units, of as many digits as the chain's amounts have. */
export const smallestUnits = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9]{1,${digits}}$`), 'must be an amount in smallest units')
    .transform(BigInt)

/** The variables of a family: those that exist once, and those that end in the name of a network. */
export interface FamilyVariables<Family extends z.ZodRawShape, Network extends z.ZodRawShape> {
  /** How the family's variables begin, such as `EVM_`: one that nobody reads is most likely a slip. */
  readonly prefix: string
  readonly family: Family
  /** By the part of the name before the network. */
  readonly perNetwork: Network
  readonly networkId: {
    readonly form: RegExp
    /** What such a name is called, such as `chain id`, and one of them. */
    readonly called: string
    readonly example: string
  }
}

/** A family's part of the environment as its schemas read it, or every problem in it. */
export type FamilyReading<Family extends z.ZodRawShape, Network extends z.ZodRawShape> =
  | { readonly problems: readonly string[] }
  | {
      readonly family: z.infer<z.ZodObject<Family>>
      /** The networks of which any variable is set. */
      readonly networks: ReadonlyMap<string, z.infer<z.ZodObject<Network>>>
    }

/** Reads a family's part of the environment; problems name variables and never values. */
export const readFamilyVariables = <Family extends z.ZodRawShape, Network extends z.ZodRawShape>(
  variables: FamilyVariables<Family, Network>,
  environment: Readonly<Record<string, string>>,
): FamilyReading<Family, Network> => {
  const { networkId } = variables
  const form = new RegExp(`^(${Object.keys(variables.perNetwork).join('|')})_(${networkId.form.source})$`)
  const problems = Object.keys(environment).flatMap((name) => describeUnknown(variables, form, name))
  const note = (name: (path: string) => string, error: z.ZodError) => {
    for (const issue of error.issues) problems.push(`${name(String(issue.path[0]))}: ${issue.message}`)
  }

  const family = z.object(variables.family).safeParse(environment)
  if (!family.success) note((path) => path, family.error)

  const perNetwork = new Map<string, Record<string, string>>()
  for (const [variable, value] of Object.entries(environment)) {
    const [, name, id] = form.exec(variable) ?? []
    if (name === undefined || id === undefined) continue
    perNetwork.set(id, { ...perNetwork.get(id), [name]: value })
  }
  const shape = z.object(variables.perNetwork)
  const networks = new Map<string, z.infer<typeof shape>>()
  for (const [id, given] of perNetwork) {
    const parsed = shape.safeParse(given)
    if (parsed.success) networks.set(id, parsed.data)
    else note((path) => `${path}_${id}`, parsed.error)
  }
  return !family.success || problems.length > 0 ? { problems } : { family: family.data, networks }
}

/** The names of a family's variables as the documentation lists them. */
export const listFamilyVariables = <Family extends z.ZodRawShape, Network extends z.ZodRawShape>({
  family,
  perNetwork,
  networkId,
}: FamilyVariables<Family, Network>) => ({
  family: Object.keys(family),
  perNetwork: Object.keys(perNetwork).map((name) => `${name}_<${networkId.called}>`),
})

/** What to say of a variable that is the family's by its first word and that nobody reads. */
const describeUnknown = <Family extends z.ZodRawShape, Network extends z.ZodRawShape>(
  { prefix, family, perNetwork, networkId }: FamilyVariables<Family, Network>,
  form: RegExp,
  variable: string,
): readonly string[] => {
  if (!variable.startsWith(prefix) || Object.hasOwn(family, variable) || form.test(variable)) return []
  const meant = Object.keys(perNetwork).find((name) => `${variable}_`.startsWith(`${name}_`))
  return meant === undefined
    ? [`${variable}: is no setting`]
    : [
        `${variable}: is no setting; write ${meant}_<${networkId.called}>, such as ${meant}_${networkId.example}`,
      ]
}
