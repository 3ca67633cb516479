import type { MonitoredNetwork } from './networkMonitor.js'

export interface TokenRequirement<Asset> {
  /** Offered tokens, in the form that `hasToken` takes. */
  readonly assets: readonly Asset[]
  /** Whether any other token is settled as well; then none is required. */
  readonly acceptsAnyToken: boolean
  /** Variable that lists the tokens. */
  readonly variable: string
  /** Whether the network has the token. Throws only if the chain is unavailable. */
  hasToken(asset: Asset): Promise<boolean>
}

/**
 * Without any of its tokens a network refuses every payment, so it does not serve. Nodes are asked until one token was
 * found, and not again.
 */
export const requireToken = <Network extends MonitoredNetwork, Asset>(
  monitored: Network,
  { assets, acceptsAnyToken, variable, hasToken }: TokenRequirement<Asset>,
): Network => {
  let isFound = acceptsAnyToken

  const findTokenProblem = async (): Promise<string | null> => {
    if (isFound) return null
    const answers = await Promise.allSettled(assets.map(hasToken))
    isFound = answers.some((answer) => answer.status === 'fulfilled' && answer.value)
    if (isFound) return null
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (failed !== undefined) throw new UnknownTokensError(failed.reason)
    return `the network has none of the tokens: check ${variable}`
  }

  return {
    ...monitored,
    findProblem: async () => (await monitored.findProblem()) ?? (await findTokenProblem()),
    describeFailure: (error) =>
      error instanceof UnknownTokensError ? error.message : monitored.describeFailure(error),
  }
}

/** Nodes prove the chain, and do not answer whether it has a token. */
class UnknownTokensError extends Error {
  constructor(cause: unknown) {
    super('its nodes do not answer which tokens it has', { cause })
    this.name = 'UnknownTokensError'
  }
}
