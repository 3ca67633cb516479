import { withinDeadline } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import { type Declaration, findDeclaration } from '../../extensions/bazaar/declaration.js'
import {
  type DeclarationSettings,
  type Explanation,
  explainDeclaration,
} from '../../extensions/bazaar/explainDeclaration.js'
import type { ValidationTurn } from '../../ports/discovery.js'
import type { DeclarationReport } from '../../protocol/discovery.js'
import type { DiscoveryUseCases } from './useCases.js'

/** As a settlement would: the same rules, in the same order. */
export const createValidateDeclaration =
  (settings: DeclarationSettings): DiscoveryUseCases['validateDeclaration'] =>
  async (body, turn): Promise<DeclarationReport> => {
    const declaration = findDeclaration(body)
    if (declaration === null) {
      throw new AppError(
        'INVALID_REQUEST',
        'The body holds no declaration: send { info, schema }, { extensions: { bazaar } }, a 402 answer or a payment',
      )
    }
    const { rules, failed, listing } = await explain(declaration, settings, turn)
    return {
      wouldBeListed: failed === null,
      version: declaration.version,
      ...(failed === null ? {} : { rule: failed.name, reason: failed.reason }),
      ...(listing === null ? {} : { key: viewKey(listing.key), type: listing.type }),
      rules: rules.map(({ rule, status, problem }) => ({
        rule: rule.name,
        status,
        effect: rule.effect,
        sentence: rule.sentence,
        ...(problem === null ? {} : { problem }),
      })),
    }
  }

/** Longer than two values of others take. */
const turnMs = 5_000

const explain = async (
  declaration: Declaration,
  settings: DeclarationSettings,
  { owner, signal: abandoned }: ValidationTurn,
): Promise<Explanation> => {
  try {
    return await withinDeadline({ milliseconds: turnMs, stopped: abandoned }, (signal) =>
      explainDeclaration(declaration, settings, { owner, signal }),
    )
  } catch (cause) {
    if (abandoned.aborted) throw new AppError('INVALID_REQUEST', 'The client hung up', { cause })
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      'Too many declarations are being checked; two of an address at a time',
      { cause, retryAfterSeconds: 2 },
    )
  }
}

const viewKey = ({ url, toolName }: { readonly url: string; readonly toolName: string }) => ({
  url,
  ...(toolName === '' ? {} : { toolName }),
})
