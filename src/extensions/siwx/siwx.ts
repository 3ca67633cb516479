import { isFields } from '../../protocol/fields.js'
import type { ExtensionProblem, PaymentExtension } from '../extension.js'

const keys = ['siwx', 'sign-in-with-x'] as const

/** In characters of JSON; a declaration holds a schema of about 1 kB. */
const maxDeclarationLength = 16_384

/** Sign-in is between client and resource server: of a payment only the shape of the declaration, and of its copy, is checked. */
export const siwx: PaymentExtension = {
  keys,
  findProblem: ({ declaredExtensions, clientExtensions }) => {
    for (const key of keys) {
      const problem =
        findDeclarationProblem('requirements', key, declaredExtensions[key]) ??
        findDeclarationProblem('payload', key, clientExtensions[key])
      if (problem !== null) return problem
    }
    return null
  },
}

const findDeclarationProblem = (
  origin: ExtensionProblem['origin'],
  key: string,
  declaration: unknown,
): ExtensionProblem | null => {
  if (declaration === undefined) return null
  const blame = (path: string, message: string): ExtensionProblem => ({ origin, path, message })
  if (!isFields(declaration)) return blame(key, 'must be a JSON object')
  if (JSON.stringify(declaration).length > maxDeclarationLength) {
    return blame(key, `must have at most ${maxDeclarationLength} characters of JSON`)
  }
  return isFields(declaration.info) ? null : blame(`${key}.info`, 'must be a JSON object')
}
