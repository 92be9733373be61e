/*
 * How often the LDPC codes of 802.11 fail at a block length of 1944 bits, with
 * one bit a symbol in white noise. `crates/wifi/src/reception/error/ldpc.rs` has
 * the result, and carries it over to other constellations by their mutual
 * information.
 *
 * The decoder is layered belief propagation with 20 iterations at most, which
 * ends early at a code word. Linear code and symmetric channel: the all-zero
 * word stands for all. A block fails if one of its information bits is wrong.
 *
 * Prints for each rate and SNR (energy of a symbol over noise density, dB) the
 * blocks that failed and the blocks sent. With an argument, only that rate:
 * 0 to 3 for 1/2, 2/3, 3/4, 5/6. A rate ends where one block in fifty
 * fails.
 */

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace
{

constexpr int kBlock = 81;
constexpr int kColumns = 24;
constexpr int kIterations = 20;
constexpr int kEnoughFailures = 200;
constexpr int kEnoughBlocks = 10000;

// Parity check matrices of IEEE Std 802.11-2020, Annex F, Table F-3: cyclic shifts of identity
// matrices of 81 by 81, -1 for none.
using Row = std::array<int, kColumns>;
const std::vector<std::vector<Row>> kMatrices{
    {
        {57, -1, -1, -1, 50, -1, 11, -1, 50, -1, 79, -1, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {3, -1, 28, -1, 0, -1, -1, -1, 55, 7, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {30, -1, -1, -1, 24, 37, -1, -1, 56, 14, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1},
        {62, 53, -1, -1, 53, -1, -1, 3, 35, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1, -1},
        {40, -1, -1, 20, 66, -1, -1, 22, 28, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1},
        {0, -1, -1, -1, 8, -1, 42, -1, 50, -1, -1, 8, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1},
        {69, 79, 79, -1, -1, -1, 56, -1, 52, -1, -1, -1, 0, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1},
        {65, -1, -1, -1, 38, 57, -1, -1, 72, -1, 27, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1},
        {64, -1, -1, -1, 14, 52, -1, -1, 30, -1, -1, 32, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1},
        {-1, 45, -1, 70, 0, -1, -1, -1, 77, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1},
        {2, 56, -1, 57, 35, -1, -1, -1, -1, -1, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0},
        {24, -1, 61, -1, 60, -1, -1, 27, 51, -1, -1, 16, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0},
    },
    {
        {61, 75, 4, 63, 56, -1, -1, -1, -1, -1, -1, 8, -1, 2, 17, 25, 1, 0, -1, -1, -1, -1, -1, -1},
        {56, 74, 77, 20, -1, -1, -1, 64, 24, 4, 67, -1, 7, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1},
        {28, 21, 68, 10, 7, 14, 65, -1, -1, -1, 23, -1, -1, -1, 75, -1, -1, -1, 0, 0, -1, -1, -1, -1},
        {48, 38, 43, 78, 76, -1, -1, -1, -1, 5, 36, -1, 15, 72, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1},
        {40, 2, 53, 25, -1, 52, 62, -1, 20, -1, -1, 44, -1, -1, -1, -1, 0, -1, -1, -1, 0, 0, -1, -1},
        {69, 23, 64, 10, 22, -1, 21, -1, -1, -1, -1, -1, 68, 23, 29, -1, -1, -1, -1, -1, -1, 0, 0, -1},
        {12, 0, 68, 20, 55, 61, -1, 40, -1, -1, -1, 44, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0},
        {58, 8, 34, 64, 78, -1, -1, 11, 78, 24, -1, -1, -1, -1, -1, 58, 1, -1, -1, -1, -1, -1, -1, 0},
    },
    {
        {48, 29, 28, 39, 9, 61, -1, -1, -1, 63, 45, 80, -1, -1, -1, 37, 32, 22, 1, 0, -1, -1, -1, -1},
        {4, 49, 42, 48, 11, 30, -1, -1, -1, 49, 17, 41, 37, 15, -1, 54, -1, -1, -1, 0, 0, -1, -1, -1},
        {35, 76, 78, 51, 37, 35, 21, -1, 17, 64, -1, -1, -1, 59, 7, -1, -1, 32, -1, -1, 0, 0, -1, -1},
        {9, 65, 44, 9, 54, 56, 73, 34, 42, -1, -1, -1, 35, -1, -1, -1, 46, 39, 0, -1, -1, 0, 0, -1},
        {3, 62, 7, 80, 68, 26, -1, 80, 55, -1, 36, -1, 26, -1, 9, -1, 72, -1, -1, -1, -1, -1, 0, 0},
        {26, 75, 33, 21, 69, 59, 3, 38, -1, -1, -1, 35, -1, 62, 36, 26, -1, -1, 1, -1, -1, -1, -1, 0},
    },
    {
        {13, 48, 80, 66, 4, 74, 7, 30, 76, 52, 37, 60, -1, 49, 73, 31, 74, 73, 23, -1, 1, 0, -1, -1},
        {69, 63, 74, 56, 64, 77, 57, 65, 6, 16, 51, -1, 64, -1, 68, 9, 48, 62, 54, 27, -1, 0, 0, -1},
        {51, 15, 0, 80, 24, 25, 42, 54, 44, 71, 71, 9, 67, 35, -1, 58, -1, 29, -1, 53, 0, -1, 0, 0},
        {16, 29, 36, 41, 44, 56, 59, 37, 50, 24, -1, 65, 4, 65, -1, 26, 7, 14, 29, 16, -1, -1, -1, 0},
    },
};

// Where each scan begins: below the limit of Shannon for one bit a symbol, in dB.
const double kFirst[] = {-2.4, -0.2, 0.9, 2.1};

/** ln(1 + e^-x) for x from zero, by table. */
class Correction
{
  public:
    Correction()
    {
        for (size_t i = 0; i < m_values.size(); i++)
        {
            m_values[i] = std::log1p(std::exp(-(i + 0.5F) / kScale));
        }
    }

    float operator()(float x) const
    {
        const auto index = static_cast<size_t>(x * kScale);
        return index < m_values.size() ? m_values[index] : 0.0F;
    }

  private:
    static constexpr float kScale = 256;
    std::array<float, 2560> m_values;
};

const Correction kCorrection;

/** What two bits say together of their sum. */
float
Both(float a, float b)
{
    const float least = std::min(std::fabs(a), std::fabs(b));
    const float value = (a < 0) == (b < 0) ? least : -least;
    return value + kCorrection(std::fabs(a + b)) - kCorrection(std::fabs(a - b));
}

class Decoder
{
  public:
    explicit Decoder(const std::vector<Row>& matrix)
        : m_information((kColumns - static_cast<int>(matrix.size())) * kBlock)
    {
        for (const Row& row : matrix)
        {
            for (int line = 0; line < kBlock; line++)
            {
                std::vector<int> bits;
                for (int column = 0; column < kColumns; column++)
                {
                    if (row[column] >= 0)
                    {
                        bits.push_back(column * kBlock + (line + row[column]) % kBlock);
                    }
                }
                m_checks.push_back(bits);
            }
        }
    }

    /** Is an information bit of the all-zero word wrong after decoding? */
    bool Fails(std::vector<float>& beliefs)
    {
        std::vector<std::vector<float>> messages;
        for (const auto& check : m_checks)
        {
            messages.emplace_back(check.size(), 0.0F);
        }
        for (int iteration = 0; iteration < kIterations && !IsWord(beliefs); iteration++)
        {
            for (size_t i = 0; i < m_checks.size(); i++)
            {
                Update(m_checks[i], messages[i], beliefs);
            }
        }
        for (int bit = 0; bit < m_information; bit++)
        {
            if (beliefs[bit] < 0)
            {
                return true;
            }
        }
        return false;
    }

  private:
    static void Update(const std::vector<int>& check, std::vector<float>& messages, std::vector<float>& beliefs)
    {
        const size_t degree = check.size();
        std::array<float, kColumns> in;
        std::array<float, kColumns> before;
        for (size_t i = 0; i < degree; i++)
        {
            in[i] = beliefs[check[i]] - messages[i];
            before[i] = i == 0 ? in[0] : Both(before[i - 1], in[i]);
        }
        float after = 0;
        for (size_t i = degree; i-- > 0;)
        {
            const bool isLast = i + 1 == degree;
            const float out = isLast ? before[i - 1] : i == 0 ? after : Both(before[i - 1], after);
            after = isLast ? in[i] : Both(in[i], after);
            messages[i] = out;
            beliefs[check[i]] = in[i] + out;
        }
    }

    bool IsWord(const std::vector<float>& beliefs) const
    {
        for (const auto& check : m_checks)
        {
            bool odd = false;
            for (int bit : check)
            {
                odd ^= beliefs[bit] < 0;
            }
            if (odd)
            {
                return false;
            }
        }
        return true;
    }

    std::vector<std::vector<int>> m_checks;
    int m_information;
};

void
Simulate(int rate)
{
    Decoder decoder(kMatrices[rate]);
    std::mt19937_64 random(1);
    for (int step = 0;; step++)
    {
        const double db = kFirst[rate] + step * 0.1;
        const double snr = std::pow(10.0, db / 10.0);
        // A likelihood ratio of BPSK has the mean 4 snr and twice that variance.
        std::normal_distribution<float> ratio(4 * snr, std::sqrt(8 * snr));
        int failures = 0;
        int blocks = 0;
        std::vector<float> beliefs(kColumns * kBlock);
        while (failures < kEnoughFailures)
        {
            for (float& belief : beliefs)
            {
                belief = ratio(random);
            }
            failures += decoder.Fails(beliefs) ? 1 : 0;
            blocks++;
        }
        std::printf("%d,%.1f,%d,%d\n", rate, db, failures, blocks);
        std::fflush(stdout);
        if (blocks > kEnoughBlocks)
        {
            break;
        }
    }
}

} // namespace

int
main(int argc, char** argv)
{
    for (int rate = 0; rate < 4; rate++)
    {
        if (argc < 2 || std::atoi(argv[1]) == rate)
        {
            Simulate(rate);
        }
    }
    return 0;
}
