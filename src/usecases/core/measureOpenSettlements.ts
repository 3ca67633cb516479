import type { OpenCount, SettlementOverview } from '../../ports/settlementOverview.js'

/** Tells how many settlements are open; one round. */
export const createMeasureOpenSettlements =
  (overview: SettlementOverview, show: (counts: readonly OpenCount[]) => void) => async (): Promise<void> =>
    show(await overview.countOpen())
