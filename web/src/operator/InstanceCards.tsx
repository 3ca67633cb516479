import type { Schemas } from '../api.js'
import { formatSeconds } from '../format.js'
import { Card, Fact, Facts } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Badge, Time } from '../ui/values.js'

type Instance = Schemas['OperatorOverview']['instance']

/** Of the instance that answers, from its memory. */
export const InstanceCards = ({ instance }: { readonly instance: Instance }) => {
  const { limiter, pools, jobs, pauses } = instance
  return (
    <>
      <div class="columns">
        <Card title="Limiter">
          <Facts>
            <Fact name="Store">{limiter.store}</Fact>
            <Fact name="State">
              <Badge tone={limiter.isDegraded ? 'warn' : 'good'}>
                {limiter.isDegraded ? 'Degraded' : 'OK'}
              </Badge>
            </Fact>
            <Fact name="Pauses it knows">{pauses}</Fact>
          </Facts>
        </Card>
        <Card title="Pools">
          <Table
            caption="Connections to the database"
            rows={pools}
            getKey={({ name }) => name}
            columns={[
              { label: 'Use', render: ({ name }) => name },
              { label: 'Open', align: 'end', render: ({ total, max }) => `${total} of ${max}` },
              { label: 'Idle', align: 'end', isExtra: true, render: ({ idle }) => idle },
              { label: 'Waiting', align: 'end', render: ({ waiting }) => waiting },
            ]}
          />
        </Card>
      </div>
      <Card title="Jobs of this instance">
        <Table
          caption="Jobs of this instance"
          rows={jobs}
          getKey={({ name }) => name}
          columns={[
            {
              label: 'Job',
              render: ({ name, isShared }) => (
                <>
                  {name}
                  {isShared ? <span class="soft">shared</span> : null}
                </>
              ),
            },
            {
              label: 'Every',
              align: 'end',
              isExtra: true,
              render: ({ everyMs }) => formatSeconds(everyMs / 1_000),
            },
            {
              label: 'Succeeded',
              align: 'end',
              render: ({ succeededAt }) =>
                succeededAt === null ? <span class="soft">Not here</span> : <Time at={succeededAt} />,
            },
            {
              label: 'Failures',
              align: 'end',
              render: ({ failures, failedAt }) =>
                failures === 0 || failedAt === null ? (
                  failures
                ) : (
                  <>
                    <strong>{failures}</strong>
                    <span class="soft">
                      <Time at={failedAt} />
                    </span>
                  </>
                ),
            },
          ]}
        />
        <p class="small soft">
          Of a shared job, one instance does the work of all. Failures are those since it succeeded.
        </p>
      </Card>
    </>
  )
}
