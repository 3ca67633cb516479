import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { CatalogueEntry, DiscoveryCatalogue } from '../../ports/discovery.js'
import type { Requester } from '../../ports/rateLimiter.js'
import { foldAddress } from '../../protocol/assetId.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { DiscoveryUseCases, OwnerSignature } from './useCases.js'

/** Whether the wallet `address` signed the text. */
export type VerifyMessage = (signed: {
  readonly network: string
  readonly address: string
  readonly message: string
  readonly signature: string
  readonly requester?: Requester
}) => Promise<boolean>

interface ChangeListingDependencies {
  readonly catalogue: Pick<DiscoveryCatalogue, 'find' | 'setState'>
  readonly verifyMessage: VerifyMessage
  readonly clock: Clock
}

const maxAgeMs = 300_000

export const createChangeListing = ({
  catalogue,
  verifyMessage,
  clock,
}: ChangeListingDependencies): DiscoveryUseCases['changeListing'] => {
  /** When the change was ordered. */
  const checkSignature = async (
    entry: CatalogueEntry,
    action: 'unlist' | 'relist',
    { address, issuedAt, signature, ...given }: OwnerSignature,
    requester: Requester | undefined,
  ): Promise<Date> => {
    const network = canonicalNetwork(given.network)
    const isRecipient = entry.terms.some(
      (terms) => terms.network === network && foldAddress(terms.payTo) === foldAddress(address),
    )
    if (!isRecipient) {
      throw new AppError('FORBIDDEN', 'address: is no recipient of this resource on this network')
    }
    const at = new Date(issuedAt)
    if (!(Math.abs(clock.now().getTime() - at.getTime()) <= maxAgeMs)) {
      throw new AppError('INVALID_REQUEST', 'issuedAt: must be within 5 minutes of now')
    }
    const message = writeListingMessage({ action, id: entry.id, key: entry.resource.key, issuedAt })
    const signed = {
      network,
      address,
      message,
      signature,
      ...(requester === undefined ? {} : { requester }),
    }
    if (!(await verifyMessage(signed))) {
      throw new AppError('FORBIDDEN', 'signature: is not one of this address over the text of this change')
    }
    return at
  }

  return async (id, action, { accountId, signature, requester }) => {
    const entry = await catalogue.find(id)
    if (entry === null) throw new AppError('NOT_FOUND', 'There is no resource with this id')
    const isOwner = accountId !== null && entry.accountId === accountId
    if (!isOwner && signature === null) {
      throw new AppError(
        'UNAUTHORIZED',
        'Send the API key of the owning account, or the signature of a recipient of the resource',
      )
    }
    const at =
      isOwner || signature === null ? clock.now() : await checkSignature(entry, action, signature, requester)
    const resource = entry.resource.key.url
    if (action === 'relist' && entry.state !== 'unlisted') return { id, resource, listing: entry.state }
    const state = action === 'unlist' ? 'unlisted' : 'listed'
    if (!(await catalogue.setState(id, state, at))) {
      throw new AppError('INVALID_REQUEST', 'issuedAt: the listing was changed after this message was issued')
    }
    return { id, resource, listing: state }
  }
}

/** Text that a recipient signs to unlist or relist a resource. */
const writeListingMessage = ({
  action,
  id,
  key,
  issuedAt,
}: {
  readonly action: 'unlist' | 'relist'
  readonly id: string
  readonly key: { readonly url: string; readonly toolName: string }
  /** As sent. */
  readonly issuedAt: string
}): string =>
  [
    `quittance discovery: ${action}`,
    `Resource: ${id}`,
    `URL: ${key.url}`,
    ...(key.toolName === '' ? [] : [`Tool: ${key.toolName}`]),
    `Issued At: ${issuedAt}`,
  ].join('\n')
