/**
 * What one endpoint reports about an outcome. `unknown`: healthy, but without the evidence or without an answer in time.
 * `unreachable`: cannot be asked, and is not counted as healthy.
 */
export type Vote = 'confirms' | 'contradicts' | 'unknown' | 'unreachable'

interface CrossCheck {
  readonly votes: readonly Vote[]
  /** Endpoints of the network, whether healthy or not. */
  readonly configured: number
  readonly outcome: 'success' | 'failure'
}

const minConfirmations = 2

/** Where only one endpoint is configured there is no second one to ask. */
export const canCrossCheck = (configured: number): boolean => configured >= minConfirmations

/**
 * The rule from the cross-check amount on: a success needs two endpoints, a failure every healthy one and two at least.
 * What is configured counts, not what is healthy: an outage must not leave one endpoint as the only evidence. With one
 * configured endpoint its own evidence suffices.
 */
export const passesCrossCheck = ({ votes, configured, outcome }: CrossCheck): boolean => {
  if (!canCrossCheck(configured)) return true
  const confirmations = votes.filter((vote) => vote === 'confirms').length
  if (confirmations < minConfirmations) return false
  switch (outcome) {
    case 'success':
      return true
    case 'failure':
      return votes.every((vote) => vote === 'confirms' || vote === 'unreachable')
  }
}
