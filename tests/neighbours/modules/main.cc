import wrapped;

int main()
{
    auto items = local_of(10);
    auto seven = items.emplace(7);
    const int *found = items.resolve(*seven);
    int sum = found != nullptr ? *found : 0;

    items.free(*seven);
    auto dense = haft::packed<int>::open(10);

    sum += dense && dense->emplace(1) ? 1 : 0;
    for (auto each : items) {
        sum += each.object;
    }
    return sum == 8 && items.resolve(*seven) == nullptr ? 0 : 1;
}
