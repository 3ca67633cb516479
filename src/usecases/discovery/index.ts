import type { PaymentExtension, SettledPayment } from '../../extensions/extension.js'
import type { Clock } from '../../ports/clock.js'
import type {
  DiscoveryCatalogue,
  OwnerChallenges,
  ResourceProbe,
  SchemaValidator,
} from '../../ports/discovery.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import { createChangeListing, type VerifyMessage } from './changeListing.js'
import { createBazaarExtension, createListAfterSettle, type SettledListing } from './listAfterSettle.js'
import { createListingQueue } from './listingQueue.js'
import { createListResources } from './listResources.js'
import { createProbeOwners } from './probeOwners.js'
import { longestValidMs } from './resolveConflict.js'
import type { DiscoveryUseCases } from './useCases.js'
import { createValidateDeclaration } from './validateDeclaration.js'

export interface DiscoveryDependencies {
  readonly catalogue: DiscoveryCatalogue
  readonly challenges: OwnerChallenges
  /** Null: the first payee keeps its listing. */
  readonly probe: ResourceProbe | null
  readonly verifyMessage: VerifyMessage
  readonly clock: Clock
  readonly logger: Logger
  /** `explained` serves `POST /discovery/validate`, `settled` settled payments. */
  readonly validators: { readonly explained: SchemaValidator; readonly settled: SchemaValidator }
  readonly settings: {
    readonly allowsPrivateHosts: boolean
    /** Without a settlement for so long, a resource is unlisted. */
    readonly staleMs: number
  }
}

interface Discovery {
  readonly useCases: DiscoveryUseCases
  readonly jobs: Readonly<Record<'unlistStaleResources' | 'probeOwners', Job>>
  readonly extension: PaymentExtension
  /** Does what `extension` does after a settlement, for callers that wait for the outcome. */
  listAfterSettle(settled: SettledPayment): SettledListing
  /** Drops what waits to be listed. */
  close(): Promise<void>
}

/** Stale resources keep their owner for so long. */
const keptMs = 180 * 86_400_000

export const createDiscovery = (dependencies: DiscoveryDependencies): Discovery => {
  const { catalogue, challenges, probe, clock, settings, validators } = dependencies
  const queue = createListingQueue(dependencies)
  const listAfterSettle = createListAfterSettle({
    ...dependencies,
    ...settings,
    queue,
    schemaValidator: validators.settled,
    probesOwners: probe !== null,
  })
  return {
    useCases: {
      ...createListResources(dependencies),
      validateDeclaration: createValidateDeclaration({ ...settings, schemaValidator: validators.explained }),
      changeListing: createChangeListing(dependencies),
    },
    jobs: {
      unlistStaleResources: {
        everyMs: 600_000,
        isShared: true,
        run: async (stopped) => {
          const staleAt = clock.now().getTime() - settings.staleMs
          await catalogue.markStale(new Date(staleAt), stopped)
          await catalogue.purge(new Date(staleAt - keptMs), stopped)
          await challenges.purge(new Date(clock.now().getTime() - longestValidMs), stopped)
        },
      },
      probeOwners: {
        everyMs: 5_000,
        isShared: true,
        needs: 'ownerChallenges',
        run:
          probe === null
            ? async () => undefined
            : createProbeOwners({
                ...dependencies,
                ...settings,
                probe,
                schemaValidator: validators.settled,
              }),
      },
    },
    extension: createBazaarExtension(listAfterSettle),
    listAfterSettle,
    close: queue.close,
  }
}
