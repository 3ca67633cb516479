import { readFileSync, statSync } from 'node:fs'

const suffix = '_FILE'

// Longer text is no secret, but a file that was named by mistake.
const maxBytes = 65_536

// The names lack the network, as in EVM_RPC_URL_8453. URLs are secrets because they often hold passwords or keys.
const secretName =
  /(?:^|_)(?:PRIVATE_KEY|AUTHORIZER_KEY|MNEMONIC|API_KEY|SECRET|TOKEN|PASSWORD|URL|HEADERS)(?:_[0-9a-z]+)?$/

/** Whether a setting may be given as a file. */
export const isSecretName = (name: string): boolean => secretName.test(name)

/** The setting that `EVM_PRIVATE_KEY_FILE` and its like are the file of; null for other names. */
export const nameOfSecretFile = (name: string): string | null => {
  if (!name.endsWith(suffix)) return null
  const setting = name.slice(0, -suffix.length)
  return isSecretName(setting) ? setting : null
}

export const secretFileOf = (setting: string): string => `${setting}${suffix}`

export interface SecretFilesReading {
  /** It has the content of each file, without surrounding white space, in place of its path. */
  readonly environment: Readonly<Record<string, string>>
  /** Settings whose value was in a file. */
  readonly namesInFiles: readonly string[]
  /** They name the variable, never its value: a secret may have been written where its path belongs. */
  readonly problems: readonly string[]
}

/** Reads each `<NAME>_FILE` of an environment of settings without empty values. Changes no other variable. */
export const readSecretFiles = (given: Readonly<Record<string, string>>): SecretFilesReading => {
  const environment = { ...given }
  const namesInFiles: string[] = []
  const problems: string[] = []
  for (const [variable, path] of Object.entries(given)) {
    const setting = nameOfSecretFile(variable)
    if (setting === null) continue
    delete environment[variable]
    if (given[setting] !== undefined) {
      problems.push(`${variable}: must not be set beside ${setting}`)
      continue
    }
    const reading = readSecretFile(path)
    if ('problem' in reading) {
      problems.push(`${variable}: ${reading.problem}`)
      continue
    }
    environment[setting] = reading.text
    namesInFiles.push(setting)
  }
  return { environment, namesInFiles, problems }
}

const readSecretFile = (path: string): { readonly text: string } | { readonly problem: string } => {
  try {
    const entry = statSync(path)
    // A pipe or a device could block the start, or never end.
    if (!entry.isFile()) return { problem: 'must be the path of a regular file' }
    if (entry.size > maxBytes) return { problem: `must be the path of a file of at most ${maxBytes} bytes` }
    const text = readFileSync(path, 'utf8').trim()
    return text === '' ? { problem: 'names an empty file' } : { text }
  } catch (error) {
    return { problem: describeProblem(error) }
  }
}

const describeProblem = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENAMETOOLONG':
      return 'names a file that does not exist; it must be a path, not the secret itself'
    case 'EACCES':
    case 'EPERM':
      return `names a file that this user${nameUser()} may not read`
    default:
      return `names a file that cannot be read (${String(code)})`
  }
}

/** With the uid, by which a mounted file is given to a user. Windows has none. */
const nameUser = (): string => (process.geteuid === undefined ? '' : ` (uid ${process.geteuid()})`)
