/** Migrations with a down step, and what that doesn't restore of the seeded tables. */
export interface WayBackCase {
  readonly title: string;
  readonly up: readonly string[];
  readonly down: readonly string[];
  /** What the report says of the way back without durations; none if it restores all. */
  readonly says: readonly string[];
  /** What wasn't there before. */
  readonly left: readonly string[];
}

const restores = (title: string, up: readonly string[], down: readonly string[]): WayBackCase => ({
  title,
  up,
  down,
  says: [],
  left: [],
});

const forgets = (
  title: string,
  [up, down]: readonly [up: readonly string[], down: readonly string[]],
  says: readonly string[],
  left: readonly string[] = [],
): WayBackCase => ({ title, up, down, says: says.map((each) => `Way back: ${each}`), left });

const NOTHING = ['select 1'];

export const RESTORING: readonly WayBackCase[] = [
  restores('adds a column', ['alter table people add city text'], ['alter table people drop city']),
  restores('adds an index', ['create index on pets (name)'], ['drop index pets_name_idx']),
  restores('drops an index', ['drop index people_name'], ['create index people_name on people (name)']),
  restores(
    'drops a NOT NULL',
    ['alter table people alter name drop not null'],
    ['alter table people alter name set not null'],
  ),
  restores(
    'sets a default',
    [`alter table small alter text set default 'x'`],
    ['alter table small alter text drop default'],
  ),
  restores(
    'renames a column',
    ['alter table people rename nick to called'],
    ['alter table people rename called to nick'],
  ),
  restores('renames a table', ['alter table visits rename to calls'], ['alter table calls rename to visits']),
  restores(
    'adds a constraint',
    ['alter table small add constraint known check (number > 0)'],
    ['alter table small drop constraint known'],
  ),
  restores(
    'adds a foreign key',
    ['alter table visits add constraint of_pet foreign key (pet) references pets not valid'],
    ['alter table visits drop constraint of_pet'],
  ),
  restores(
    'drops a foreign key',
    ['alter table pets drop constraint pets_owner_fkey'],
    ['alter table pets add foreign key (owner) references owners on delete cascade'],
  ),
  restores(
    'adds a table with rows',
    ['create table tags (id serial primary key, name text)', `insert into tags (name) values ('a')`],
    ['drop table tags'],
  ),
  restores('adds a view', ['create view nicks as select nick from people'], ['drop view nicks']),
  restores(
    'replaces a function',
    [
      `create or replace function changed() returns trigger language plpgsql as 'begin new.name = upper(new.name); return new; end'`,
    ],
    [`create or replace function changed() returns trigger language plpgsql as 'begin return new; end'`],
  ),
  restores(
    'drops a trigger',
    ['drop trigger changed on owners'],
    ['create trigger changed before update on owners for each row execute function changed()'],
  ),
  restores(
    'drops a policy',
    ['drop policy all_rows on owners'],
    ['create policy all_rows on owners using (true)'],
  ),
  restores(
    'makes a type wider',
    ['alter table small alter number type bigint'],
    ['alter table small alter number type int'],
  ),
  restores(
    'limits a text that fits',
    ['alter table archive.old alter text type varchar(10)'],
    ['alter table archive.old alter text type text'],
  ),
  restores(
    'adds rows',
    [`insert into small select g, g, 'new' from generate_series(51, 60) g`],
    ['delete from small where id > 50'],
  ),
  restores(
    'changes values by a formula',
    ['update small set number = number + 7'],
    ['update small set number = number - 7'],
  ),
  restores(
    'moves a table to another schema',
    ['alter table empty set schema archive'],
    ['alter table archive.empty set schema public'],
  ),
  restores(
    'detaches a partition',
    ['alter table events detach partition events_2'],
    ['alter table events attach partition events_2 for values from (100) to (200)'],
  ),
  restores(
    'adds a type and a column of it',
    [`create type size as enum ('s', 'm')`, `alter table pets add size size default 's'`],
    ['alter table pets drop size', 'drop type size'],
  ),
  restores(
    'keeps the values of a column in a table',
    [
      'begin',
      'create table nicks as select id, nick from people where nick is not null',
      'alter table people drop nick',
      'commit',
    ],
    [
      'begin',
      'alter table people add nick text',
      'update people set nick = n.nick from nicks n where n.id = people.id',
      'drop table nicks',
      'commit',
    ],
  ),
  restores(
    'drops a column without values',
    ['alter table people drop unused'],
    ['alter table people add unused text'],
  ),
  restores('comments', [`comment on table small is 'few rows'`], ['comment on table small is null']),
];

export const FORGETTING: readonly WayBackCase[] = [
  forgets(
    'an index',
    [['drop index people_name'], NOTHING],
    [
      "Doesn't restore this part of the schema: CREATE INDEX people_name ON public.people USING btree (name);",
    ],
  ),
  forgets(
    'a NOT NULL',
    [['alter table people alter name drop not null'], NOTHING],
    ["Doesn't restore this part of the schema: name text NOT NULL"],
    ['name text'],
  ),
  forgets(
    'a default',
    [['alter table orders alter state drop default'], NOTHING],
    [`Doesn't restore this part of the schema: state public.state DEFAULT 'paid'::public.state NOT NULL`],
    ['state public.state NOT NULL'],
  ),
  forgets(
    'what a foreign key does on delete',
    [
      ['alter table pets drop constraint pets_owner_fkey'],
      ['alter table pets add foreign key (owner) references owners'],
    ],
    [
      "Doesn't restore this part of the schema: ADD CONSTRAINT pets_owner_fkey FOREIGN KEY (owner) REFERENCES public.owners(id) ON DELETE CASCADE;",
    ],
    ['ADD CONSTRAINT pets_owner_fkey FOREIGN KEY (owner) REFERENCES public.owners(id);'],
  ),
  forgets(
    'the values of a column',
    [['alter table people drop nick'], ['alter table people add nick text']],
    ['Loses 300 values of public.people.nick.'],
  ),
  forgets(
    'the rows of a table',
    [['drop table archive.old'], ['create table archive.old (id int, text text)']],
    ['Loses 70 rows of archive.old.'],
  ),
  forgets(
    'a name',
    [['alter table people rename nick to called'], NOTHING],
    ["Doesn't restore this part of the schema: nick text"],
    ['called text'],
  ),
  forgets(
    'a view',
    [['drop view names'], NOTHING],
    [
      "Doesn't restore this part of the schema: CREATE VIEW public.names AS SELECT id name FROM public.people; ALTER VIEW public.names OWNER TO app_owner;",
    ],
  ),
  forgets(
    'the body of a function',
    [
      [`create or replace function changed() returns trigger language plpgsql as 'begin return null; end'`],
      NOTHING,
    ],
    [`Doesn't restore this part of the schema: AS $$begin return new; end$$;`],
    [`AS $$begin return null; end$$;`],
  ),
  forgets(
    'a trigger',
    [['drop trigger changed on owners'], NOTHING],
    [
      "Doesn't restore this part of the schema: CREATE TRIGGER changed BEFORE UPDATE ON public.owners FOR EACH ROW EXECUTE FUNCTION public.changed();",
    ],
  ),
  forgets(
    'a policy',
    [['drop policy all_rows on owners'], NOTHING],
    ["Doesn't restore this part of the schema: CREATE POLICY all_rows ON public.owners USING (true);"],
  ),
  forgets(
    'to enable a trigger',
    [['alter table owners disable trigger changed'], NOTHING],
    [],
    ['ALTER TABLE public.owners DISABLE TRIGGER changed;'],
  ),
  forgets(
    'what a type has cut off',
    [['alter table people alter price type int'], ['alter table people alter price type numeric(10, 2)']],
    ['Changes values of public.people.price.'],
  ),
  forgets(
    'the values that an update has replaced',
    [['update people set nick = upper(nick)'], NOTHING],
    ['Changes values of public.people.nick.'],
  ),
  forgets(
    'that values were missing',
    [
      ['update people set nick = $$none$$ where nick is null'],
      [`update people set nick = '' where nick = 'none'`],
    ],
    ['Changes values of public.people.nick.'],
  ),
  forgets('rows', [['delete from small where id > 40'], NOTHING], ['Loses 10 rows of public.small.']),
  forgets(
    'rows, and puts others there',
    [
      ['delete from small where id > 40'],
      [`insert into small select g, 0, '' from generate_series(41, 50) g`],
    ],
    ['Changes values of public.small.number.', 'Changes values of public.small.text.'],
  ),
  forgets(
    'an index of a materialized view',
    [['drop index ages_age'], NOTHING],
    [
      "Doesn't restore this part of the schema: CREATE UNIQUE INDEX ages_age ON public.ages USING btree (age);",
    ],
  ),
  forgets(
    'the limit of a constraint',
    [
      ['alter table visits drop constraint pet_known'],
      ['alter table visits add constraint pet_known check (pet < 9000) not valid'],
    ],
    ["Doesn't restore this part of the schema: ADD CONSTRAINT pet_known CHECK ((pet < 5000)) NOT VALID;"],
    ['ADD CONSTRAINT pet_known CHECK ((pet < 9000)) NOT VALID;'],
  ),
  forgets('a value of an enum', [[`alter type mood add value 'fair'`], NOTHING], [], [`'fair'`]),
  forgets(
    'the former type',
    [['alter table archive.old alter text type varchar(100)'], NOTHING],
    ["Doesn't restore this part of the schema: text text"],
    ['text character varying(100)'],
  ),
  forgets(
    'to delete rows',
    [[`insert into small select g, g, 'new' from generate_series(51, 60) g`], NOTHING],
    [],
    ['10 rows of public.small'],
  ),
  forgets('to drop a column', [['alter table small add extra int'], NOTHING], [], ['extra integer']),
  forgets(
    'to drop a table',
    [['create table tags (id serial primary key, pet int references pets)'], NOTHING],
    [],
    ['CREATE TABLE public.tags'],
  ),
  forgets(
    'all, because it fails',
    [['alter table small add extra int'], ['alter table small drop other']],
    ['Fails at “alter table small drop other”: column "other" of relation "small" does not exist'],
  ),
];
